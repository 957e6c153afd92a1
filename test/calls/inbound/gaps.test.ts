import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import { inOrder } from '../../../src/calls/feed/transcript.ts';
import { EngineError } from '../../../src/engine-client/engine.ts';
import { settle } from '../../fakes/clock.ts';
import { type Gateway, metricValue, startCalls } from '../harness.ts';

const gapsOf = (gateway: Gateway) => gateway.events.filter((event) => event.type === 'gap');
const finalsOf = (events: readonly FeedEvent[]) => events.filter((event) => event.type === 'caption' && event.final);
const lost = (reason: string) => metricValue('trunkline_finals_lost_total', { reason });
const warnings = (gateway: Gateway) =>
  gateway.logLines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line['level'] === 40);

describe('speech of which no final comes', () => {
  it('is told in the feed before the end of the call, in the transcript, in the metrics and in the log', async () => {
    const gateway = startCalls();
    const before = await lost('overload');
    gateway.engine.held = true;
    gateway.dial().start().speak(608).stop();
    await gateway.clock.run(11_000, 250);
    const gap = { track: 'inbound', startMs: 0, endMs: 608, reason: 'overload' };
    expect(gateway.events.slice(-3)).toMatchObject([
      { type: 'gap', callId: 'CA1', ...gap },
      { type: 'lag.ended' },
      { type: 'call.ended' },
    ]);
    expect(inOrder(gateway.registry.summary('CA1')?.transcript ?? [])).toEqual([{ kind: 'gap', ...gap }]);
    expect((await lost('overload')) - before).toBe(1);
    expect(warnings(gateway)).toContainEqual(
      expect.objectContaining({ callId: 'CA1', msg: 'a stretch has no final caption', ...gap }),
    );
    expect(gateway.logLines.join('')).not.toContain('secret');
  });

  it('is named by what failed, also while the call goes on', async () => {
    const gateway = startCalls();
    gateway.engine.hear = () => {
      throw new EngineError('model_failed', 'no');
    };
    const caller = gateway.dial().start().speak(600).hush(600);
    await gateway.clock.run(20_000, 100);
    expect(gapsOf(gateway)).toEqual([
      { type: 'gap', callId: 'CA1', track: 'inbound', startMs: 0, endMs: 608, reason: 'engine' },
    ]);
    caller.stop();
    await settle();
    expect(gapsOf(gateway)).toHaveLength(1);
  });

  it('keeps the words that were understood, as the final, and misses what follows them', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start().speak(600);
    await gateway.clock.run(100);
    gateway.engine.held = true;
    caller.speak(1000).stop();
    await gateway.clock.run(31_000, 500);
    const [final] = finalsOf(gateway.events);
    expect(final).toMatchObject({ text: 'secret words', startMs: 0 });
    expect(gapsOf(gateway)[0]).toMatchObject({ reason: 'overload', startMs: (final as { endMs: number }).endMs });
    expect(gapsOf(gateway).at(-1)).toMatchObject({ endMs: 1600 });
  });

  it('is waited for after the call as long as finals keep coming, late as they are', async () => {
    const gateway = startCalls();
    gateway.engine.transcribeMs = 4000;
    const caller = gateway.dial().start();
    for (let turn = 0; turn < 4; turn++) caller.speak(600).hush(600);
    caller.stop();
    await gateway.clock.run(20_000, 250);
    expect(finalsOf(gateway.events)).toHaveLength(4);
    expect([gapsOf(gateway), gateway.events.at(-1)?.type]).toEqual([[], 'call.ended']);
    expect(gateway.clock.pending).toBe(0);
  });

  it('is waited for LIVE_LAG_MAX_MS at most, as while the call went on', async () => {
    const gateway = startCalls();
    gateway.engine.transcribeMs = 3000;
    const caller = gateway.dial().start();
    for (let turn = 0; turn < 40; turn++) caller.speak(300).hush(600);
    caller.stop();
    await gateway.clock.run(9900, 100);
    expect(gateway.events.at(-1)?.type).not.toBe('call.ended');
    expect(finalsOf(gateway.events).length).toBeGreaterThan(2);
    // A reading that revises finals may be under way.
    await gateway.clock.run(3500, 100);
    expect(gateway.events.at(-1)?.type).toBe('call.ended');
    expect(gapsOf(gateway).at(-1)).toMatchObject({ reason: 'overload', endMs: 36_000 });
    expect([gateway.clock.pending, gateway.engine.pending, gateway.registry.liveCount]).toEqual([0, 0, 0]);
  });

  it('is not waited for so long when the gateway is shut down, which is the reason then', async () => {
    const gateway = startCalls({ LIVE_LAG_MAX_MS: '60000' });
    gateway.engine.transcribeMs = 20_000;
    const caller = gateway.dial().start();
    for (let turn = 0; turn < 8; turn++) caller.speak(600).hush(600);
    caller.stop();
    const drained = gateway.registry.drain(1000);
    await gateway.clock.run(31_500, 250);
    await drained;
    expect(gapsOf(gateway)[0]).toMatchObject({ reason: 'shutdown' });
    expect(gateway.events.at(-1)).toMatchObject({ type: 'call.ended', reason: 'hangup' });
    expect(gateway.clock.pending).toBe(0);
  });
});

describe('speech that waits too long for the engines', () => {
  it('is a gap while the call goes on, whose socket is read all the time', async () => {
    const gateway = startCalls({ LIVE_LAG_MAX_MS: '4000' });
    const before = await lost('overload');
    const caller = gateway.dial().start();
    gateway.engine.held = true;
    for (let ms = 0; ms < 12_000; ms += 20) {
      caller.speak(20);
      expect(caller.socket.isPaused).toBe(false);
      await gateway.clock.run(20);
    }
    const gaps = gapsOf(gateway);
    expect(gaps.length).toBeGreaterThan(2);
    expect(gaps[0]).toMatchObject({ startMs: 0, reason: 'overload' });
    expect(gaps.at(-1)?.endMs).toBeGreaterThan(12_000 - 4000);
    for (const [index, gap] of gaps.entries()) expect(gap.startMs).toBe(gaps[index - 1]?.endMs ?? 0);
    expect((await lost('overload')) - before).toBe(gaps.length);
    gateway.engine.release();
    caller.hush(1000).stop();
    await gateway.clock.run(1000);
    expect(finalsOf(gateway.events)).toMatchObject([{ startMs: gaps.at(-1)?.endMs, endMs: 12_000 }]);
    expect(gapsOf(gateway)).toHaveLength(gaps.length);
  });

  it('is a gap of the calls that ended first, where too much waits of calls that are over', async () => {
    const gateway = startCalls();
    gateway.engine.held = true;
    const endings = () => gateway.events.flatMap((event) => (event.type === 'call.ended' ? event.callId : []));
    for (const callSid of ['CA1', 'CA2']) gateway.dial().start({ callSid }).speak(110_000).stop();
    await settle();
    expect(endings()).toEqual([]);
    gateway.dial().start({ callSid: 'CA3' }).speak(60_000).stop();
    await settle();
    expect(endings()).toEqual(['CA1']);
    expect(gapsOf(gateway)).toEqual([
      { type: 'gap', callId: 'CA1', track: 'inbound', startMs: 0, endMs: 110_000, reason: 'overload' },
    ]);
  });
});

describe('sound that was not read', () => {
  it('is a gap when the call ends while its socket is paused', async () => {
    const gateway = startCalls();
    gateway.engine.held = true;
    const { socket } = gateway.dial().start().speak(5200);
    expect(socket.isPaused).toBe(true);
    await gateway.clock.run(2000, 100);
    gateway.registry.hangup('CA1');
    expect(gapsOf(gateway)).toEqual([
      { type: 'gap', callId: 'CA1', track: 'inbound', startMs: 5200, endMs: 7200, reason: 'overload' },
    ]);
    gateway.engine.release();
    await gateway.clock.run(500);
    expect(finalsOf(gateway.events)).toMatchObject([{ startMs: 0, endMs: 5200 }]);
  });

  it('is a gap when it is more than may wait', async () => {
    const gateway = startCalls();
    gateway.engine.held = true;
    const caller = gateway.dial().start();
    // A telephone cannot be told to wait, as this carrier is not.
    for (let n = 0; n < 150 && caller.socket.closedWith === null; n++) caller.speak(1000);
    expect(caller.socket.closedWith?.reason).toContain('wait to be transcribed');
    gateway.engine.release();
    await gateway.clock.run(500);
    const [gap] = gapsOf(gateway);
    expect(gap).toMatchObject({ reason: 'overload' });
    expect(finalsOf(gateway.events).at(-1)).toMatchObject({ endMs: gap?.startMs });
    expect(gateway.events.at(-1)).toMatchObject({ type: 'call.ended', reason: 'error', durationMs: gap?.endMs });
  });
});

describe('media that got lost', () => {
  it('is a gap where it was half a second or more', async () => {
    const gateway = startCalls();
    const before = await lost('media');
    gateway.dial().start().speak(500).lose(400).speak(500).lose(600).speak(500).stop();
    await gateway.clock.run(100);
    expect(gapsOf(gateway)).toEqual([
      { type: 'gap', callId: 'CA1', track: 'inbound', startMs: 1400, endMs: 2000, reason: 'media' },
    ]);
    // It was never received, so it is none of the finals that were lost here.
    expect(await lost('media')).toBe(before);
  });

  it('counts in the time of the call, however long it was', async () => {
    const gateway = startCalls();
    gateway.dial().start().speak(500).lose(60_000).speak(500).stop();
    await gateway.clock.run(100);
    expect(gapsOf(gateway)).toMatchObject([{ startMs: 500, endMs: 60_500, reason: 'media' }]);
  });

  it('has no more than twenty lines in the log of a call', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start();
    for (let n = 0; n < 30; n++) caller.hush(200).lose(600);
    caller.hush(200).stop();
    await gateway.clock.run(100);
    expect([gapsOf(gateway).length, warnings(gateway).length]).toEqual([30, 20]);
    expect(JSON.parse(gateway.logLines.at(-1) ?? '')).toMatchObject({ msg: 'call ended', gaps: 30 });
  });
});
