import { describe, expect, it } from 'vitest';
import { coverageOf } from '../../../src/flows/testing/coverage.ts';
import { testWorld } from '../../../src/flows/testing/test-world.ts';
import { wallTimeIn } from '../../../src/flows/testing/wall-time.ts';
import { VirtualClock } from '../../../src/foundation/virtual-clock.ts';

const request = (url: string) => ({ url, method: 'GET' as const, headers: {}, body: null });
const never = new AbortController().signal;

describe('the time of a test', () => {
  it.each([
    ['2026-11-23T10:00', 'Europe/Berlin', '2026-11-23T09:00:00.000Z'],
    ['2026-07-01T10:00', 'Europe/Berlin', '2026-07-01T08:00:00.000Z'],
    ['2026-03-29T01:59', 'Europe/Berlin', '2026-03-29T00:59:00.000Z'],
    ['2026-03-29T03:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
    ['2026-11-23T10:00', 'America/New_York', '2026-11-23T15:00:00.000Z'],
    ['2026-11-23T10:00Z', 'America/New_York', '2026-11-23T10:00:00.000Z'],
    ['2026-11-23T10:00+05:30', 'UTC', '2026-11-23T04:30:00.000Z'],
  ])('%s in %s is %s', (text, zone, utc) => {
    expect(wallTimeIn(text, zone).toISOString()).toBe(utc);
  });

  it('refuses a day that no calendar has', () => {
    expect(() => wallTimeIn('2026-02-30T10:00', 'UTC')).toThrow(/2026-02-30/);
  });

  it('goes on from the time that the test names', () => {
    const clock = new VirtualClock();
    const world = testWorld({ at: '2026-11-23T10:00Z' }, { clock, timeZone: 'UTC', onSet: () => undefined });
    clock.advance(90_000);
    expect(world.wall().toISOString()).toBe('2026-11-23T10:01:30.000Z');
  });
});

describe('the network of a test', () => {
  const http = [
    { url: 'http://shop.test/orders/1', json: { status: 'sent' } },
    { url: 'http://shop.test/orders/2', fails: true as const },
    { url: 'http://shop.test/*', status: 404, text: 'nothing', delayMs: 300 },
  ];
  const open = (clock = new VirtualClock()) => testWorld({ http }, { clock, timeZone: 'UTC', onSet: () => undefined });

  it('gives the first answer that fits', async () => {
    expect(await open().request?.(request('http://shop.test/orders/1'), never)).toEqual({
      status: 200,
      body: '{"status":"sent"}',
    });
    await expect(open().request?.(request('http://shop.test/orders/2'), never)).rejects.toThrow(/fail/);
    await expect(open().request?.(request('http://other.test/'), never)).rejects.toThrow(
      /no answer to GET http:\/\/other/,
    );
  });

  it('answers after the delay, unless the step has given up', async () => {
    const clock = new VirtualClock();
    const late = open(clock).request?.(request('http://shop.test/orders/9'), never);
    clock.advance(300);
    expect(await late).toEqual({ status: 404, body: 'nothing' });
    const given = new AbortController();
    const aborted = open(clock).request?.(request('http://shop.test/orders/9'), given.signal);
    given.abort(new Error('given up'));
    await expect(aborted).rejects.toThrow('given up');
    expect(clock.pending).toBe(0);
  });
});

describe('the coverage of steps', () => {
  it('counts each step once, and names those that no test came to', () => {
    const flows = [{ flow: 'shop', steps: ['a', 'b', 'c'] }];
    const taken = [
      { flow: 'shop', step: 'a' },
      { flow: 'shop', step: 'a' },
      { flow: 'other', step: 'b' },
    ];
    expect(coverageOf(flows, taken)).toEqual([{ flow: 'shop', reached: 1, total: 3, unreached: ['b', 'c'] }]);
  });
});
