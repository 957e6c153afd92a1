import { describe, expect, it } from 'vitest';
import { type LagChange, LagTally, LagWatch } from '../../../src/calls/inbound/lag.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { type Gateway, metricValue, startCalls } from '../harness.ts';

describe('the lag of a track', () => {
  function watch(): { clock: FakeClock; lag: LagWatch; changes: LagChange[] } {
    const clock = new FakeClock();
    const changes: LagChange[] = [];
    return { clock, lag: new LagWatch(clock, (change) => changes.push(change)), changes };
  }

  it('is told above a second, once, and again when it is over, with the worst', () => {
    const { clock, lag, changes } = watch();
    for (const lagMs of [900, 1000, 1001.4, 3000, 1500, 100]) lag.note(lagMs);
    expect(changes).toEqual([{ type: 'lag.started', lagMs: 1001 }]);
    clock.advance(5000);
    lag.note(100);
    expect(changes.slice(1)).toEqual([{ type: 'lag.ended', lagMs: 3000 }]);
  });

  it('is not over while captions are late now and then', () => {
    const { clock, lag, changes } = watch();
    lag.note(2000);
    for (let n = 0; n < 10; n++) {
      lag.note(100);
      clock.advance(4000);
      lag.note(700);
    }
    expect(changes).toHaveLength(1);
  });

  it('is over when the track is', () => {
    const { lag, changes } = watch();
    lag.end();
    expect(changes).toEqual([]);
    lag.note(2000);
    lag.end();
    lag.end();
    expect(changes.map(({ type }) => type)).toEqual(['lag.started', 'lag.ended']);
  });
});

describe('many tracks that fall behind together', () => {
  it('have one line in the log every ten seconds, which says how many they are', () => {
    const clock = new FakeClock();
    const lines: Record<string, unknown>[] = [];
    const log = createLog('warn', { write: (line) => void lines.push(JSON.parse(line)) });
    const seen: number[] = [];
    const tally = new LagTally(clock, {
      tracksBehind: { set: (n: number) => seen.push(n) },
      lags: { inc: () => undefined },
    } as never);
    for (let n = 0; n < 3; n++) tally.note(log, 'inbound', { type: 'lag.started', lagMs: 1200 });
    expect(lines).toMatchObject([{ track: 'inbound', lagMs: 1200, tracksBehind: 1, warningsLeftOut: 0 }]);
    clock.advance(10_000);
    tally.note(log, 'outbound', { type: 'lag.started', lagMs: 4000 });
    expect(lines.slice(1)).toMatchObject([{ track: 'outbound', lagMs: 4000, tracksBehind: 4, warningsLeftOut: 2 }]);
    tally.note(log, 'outbound', { type: 'lag.ended', lagMs: 4000 });
    expect([lines.length, seen]).toEqual([2, [1, 2, 3, 4, 3]]);
  });
});

describe('a call whose captions come late', () => {
  const lagEvents = (gateway: Gateway) =>
    gateway.events.filter((event) => event.type === 'lag.started' || event.type === 'lag.ended');

  it('says so in the feed, the metrics and the log, although no caption comes', async () => {
    const gateway = startCalls();
    const lags = await metricValue('trunkline_lags_total', {});
    const behind = () => metricValue('trunkline_tracks_behind', {});
    const caller = gateway.dial().start();
    gateway.engine.held = true;
    caller.speak(600);
    await gateway.clock.run(900);
    expect(lagEvents(gateway)).toEqual([]);
    await gateway.clock.run(500);
    expect(lagEvents(gateway)).toEqual([
      { type: 'lag.started', callId: 'CA1', track: 'inbound', atMs: expect.any(Number), lagMs: expect.any(Number) },
    ]);
    expect([(await metricValue('trunkline_lags_total', {})) - lags, await behind()]).toEqual([1, 1]);
    expect(gateway.logLines.filter((line) => line.includes('captions come late'))).toHaveLength(1);
    gateway.engine.release();
    await gateway.clock.run(6000);
    expect(lagEvents(gateway)[1]).toMatchObject({ type: 'lag.ended', lagMs: expect.any(Number) });
    expect(await behind()).toBe(0);
    caller.stop();
    await gateway.clock.run(100);
  });

  it('says so for a final that comes late, and stops saying so before the call is over', async () => {
    const gateway = startCalls();
    gateway.engine.transcribeMs = 3000;
    gateway.dial().start().speak(300).hush(600).stop();
    await gateway.clock.run(4000);
    expect(gateway.events.map(({ type }) => type).slice(-4)).toEqual([
      'lag.started',
      'caption',
      'lag.ended',
      'call.ended',
    ]);
    expect(lagEvents(gateway)[1]).toMatchObject({ lagMs: 3000 });
  });

  it('says nothing while all is well, however long a pause is to end an utterance', async () => {
    const gateway = startCalls({ ENDPOINT_CAPTIONS_MS: '3000' });
    const caller = gateway.dial().start();
    for (let n = 0; n < 5; n++) {
      caller.speak(600).hush(4000);
      await gateway.clock.run(4600, 20);
    }
    caller.stop();
    await gateway.clock.run(100);
    expect(lagEvents(gateway)).toEqual([]);
  });
});
