/** Calls in which nothing is heard, or not any more. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { metricValue } from '../../calls/harness.ts';
import { settle } from '../../fakes/clock.ts';
import { SipLine } from './line.ts';
import { endReason, ID, ring } from './timed-call.ts';

let line: SipLine;
beforeEach(() => {
  line = new SipLine();
});
afterEach(() => line.close());

describe('a live call in which no media come any more', () => {
  it('ends by a time-out, and nobody says that it was refused', async () => {
    const before = await metricValue('trunkline_refused_total', { code: 'media_timeout' });
    await ring(line, []);
    line.media[0]?.timeOut();
    await settle();
    expect(endReason(line)).toBe('timeout');
    expect(await metricValue('trunkline_refused_total', { code: 'media_timeout' })).toBe(before);
    expect(line.gateway.logLines.join()).not.toContain('stream refused');
    expect(line.gateway.logLines.join()).toContain('"code":"media_timeout"');
  });
});

describe('a silent call', () => {
  it('lasts as long as its sound, and not at all before that begins', async () => {
    await ring(line, []);
    const lasts = () => line.gateway.registry.get(ID)?.durationMs;
    await line.gateway.clock.run(30_000, 1000);
    expect(lasts()).toBe(0);
    for (let i = 0; i < 50; i++)
      line.media[0]?.listener?.receiveAudio({ bytes: new Uint8Array(160).fill(0xd5), atMs: i * 20, sequence: i + 1 });
    expect(lasts()).toBe(1000);
    await line.gateway.clock.run(30_000, 1000);
    line.media[0]?.timeOut();
    await settle();
    expect(line.gateway.events.at(-1)).toMatchObject({ type: 'call.ended', reason: 'timeout', durationMs: 1000 });
  });
});
