import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { settle } from '../fakes/clock.ts';
import { type Gateway, metricValue, startCalls } from './harness.ts';

const typesOf = (events: readonly FeedEvent[]) => events.map((event) => event.type);
const finalsOf = (events: readonly FeedEvent[]) => events.filter((event) => event.type === 'caption' && event.final);
const endOf = (gateway: Gateway) => gateway.events.filter((event) => event.type === 'call.ended');

describe('a call', () => {
  it('is told in the feed from start to end, in the public shapes', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start({ parameters: { from: '+15550001', to: '+15550002' } });
    caller.speak(640);
    await gateway.clock.run(100);
    caller.hush(600);
    await gateway.clock.run(100);
    caller.press('5').stop();
    await gateway.clock.run(100);
    expect(gateway.events.map((event) => JSON.stringify(event))).toMatchInlineSnapshot(`
      [
        "{"type":"call.started","callId":"CA1","carrier":"twilio","from":"+15550001","to":"+15550002","startedAt":"2026-01-01T00:00:00.000Z","tracks":["inbound"],"names":{"inbound":null,"outbound":null},"agent":null,"queue":null,"app":null}",
        "{"type":"speech.started","callId":"CA1","track":"inbound","atMs":0}",
        "{"type":"caption","callId":"CA1","track":"inbound","utterance":1,"stable":"","tail":"secret words","text":"secret words","final":false,"startMs":0,"endMs":608,"lagMs":10}",
        "{"type":"speech.stopped","callId":"CA1","track":"inbound","atMs":640}",
        "{"type":"caption","callId":"CA1","track":"inbound","utterance":1,"stable":"secret words","tail":"","text":"secret words","final":true,"startMs":0,"endMs":640,"lagMs":20}",
        "{"type":"dtmf","callId":"CA1","digit":"5","atMs":1240}",
        "{"type":"call.ended","callId":"CA1","reason":"hangup","durationMs":1240,"handoffData":null}",
      ]
    `);
  });

  it('captions both tracks, each under its name', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start({ tracks: ['inbound', 'outbound'] });
    caller.speak(500, 'inbound').hush(500, 'outbound').hush(600, 'inbound').speak(500, 'outbound').stop();
    await gateway.clock.run(100);
    expect(finalsOf(gateway.events)).toMatchObject([
      { track: 'inbound', utterance: 1, startMs: 0 },
      { track: 'outbound', utterance: 1, startMs: 480 },
    ]);
  });

  it('counts received audio, not time: gaps that were filled included', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start();
    caller.hush(500).lose(300).hush(200);
    await gateway.clock.run(5000, 100);
    caller.press('1').stop();
    await gateway.clock.run(100);
    expect(gateway.events.slice(1)).toEqual([
      { type: 'dtmf', callId: 'CA1', digit: '1', atMs: 1000 },
      { type: 'call.ended', callId: 'CA1', reason: 'hangup', durationMs: 1000, handoffData: null },
    ]);
  });

  it('counts what was repaired', async () => {
    const lost = () => metricValue('trunkline_media_concealed_ms_total', { carrier: 'twilio' });
    const silent = () => metricValue('trunkline_media_silence_ms_total', { carrier: 'twilio' });
    const before = (await lost()) + (await silent());
    const gateway = startCalls();
    gateway.dial().start().hush(500).lose(300).hush(200).lose(100).hush(200).stop();
    await gateway.clock.run(100);
    expect((await lost()) + (await silent()) - before).toBe(400);
    expect(gateway.logLines.map((line) => JSON.parse(line)).at(-1)).toMatchObject({
      msg: 'call ended',
      callId: 'CA1',
      carrier: 'twilio',
      reason: 'hangup',
      finals: 0,
      durationMs: 1300,
    });
  });

  it('ends the caption when the media stop coming in mid-speech', async () => {
    const gateway = startCalls();
    gateway.dial().start().speak(600);
    await gateway.clock.run(700);
    expect(finalsOf(gateway.events)).toEqual([]);
    await gateway.clock.run(400);
    expect(typesOf(gateway.events).slice(-2)).toEqual(['speech.stopped', 'caption']);
    expect(finalsOf(gateway.events)).toHaveLength(1);
  });

  it('waits no longer for a lost chunk when the media stop coming in', async () => {
    const gateway = startCalls();
    gateway.dial().start().speak(600).lose(20).speak(40);
    await gateway.clock.run(1100);
    expect(finalsOf(gateway.events)).toMatchObject([{ startMs: 0, endMs: 640 }]);
  });

  it("counts a late track's time from the start of the stream", async () => {
    const gateway = startCalls();
    gateway.dial().start().lose(320).speak(640).stop();
    await gateway.clock.run(100);
    expect(finalsOf(gateway.events)).toMatchObject([{ startMs: 320, endMs: 960 }]);
    expect(endOf(gateway)).toMatchObject([{ durationMs: 960 }]);
  });

  it('hears the rest of what was said when it ends in mid-word', async () => {
    const gateway = startCalls();
    gateway.dial().start().speak(600).stop();
    await gateway.clock.run(100);
    expect(typesOf(gateway.events).slice(-3)).toEqual(['speech.stopped', 'caption', 'call.ended']);
    expect(gateway.registry.summary('CA1')?.transcript).toEqual([
      { kind: 'caption', track: 'inbound', utterance: 1, text: 'secret words', startMs: 0, endMs: 600 },
    ]);
  });

  it('keeps a final without words out of the transcript', async () => {
    const gateway = startCalls();
    gateway.dial().start().speak(600).stop();
    gateway.engine.hear = ({ urgency }) => ({ text: urgency === 'partial' ? 'a guess' : '' });
    await gateway.clock.run(100);
    expect(finalsOf(gateway.events)).toMatchObject([{ text: '' }]);
    expect(gateway.registry.summary('CA1')?.transcript).toEqual([]);
  });

  it.each([
    ['hangup', (gateway: Gateway) => gateway.dial().start().speak(600).stop()],
    ['closed', (gateway: Gateway) => gateway.dial().start().speak(600).socket.hangUp(1000)],
    ['lost', (gateway: Gateway) => gateway.dial().start().speak(600).socket.hangUp(1006)],
  ])('ends as "%s" with its last caption out', async (reason, act) => {
    const gateway = startCalls();
    act(gateway);
    await gateway.clock.run(100);
    expect(finalsOf(gateway.events)).toHaveLength(1);
    expect(gateway.events.at(-1)).toEqual({
      type: 'call.ended',
      callId: 'CA1',
      reason,
      durationMs: 600,
      handoffData: null,
    });
  });

  it('ends when the stream goes silent for too long', async () => {
    const gateway = startCalls();
    const { socket } = gateway.dial().start().hush(100);
    await gateway.clock.run(61_000, 250);
    expect(endOf(gateway)).toMatchObject([{ reason: 'timeout' }]);
    expect(socket.closedWith?.code).toBe(4409);
  });

  it('ends once, whatever follows the first reason', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start().speak(600).stop();
    gateway.registry.hangup('CA1');
    caller.socket.hangUp(1006);
    await gateway.clock.run(100);
    expect(endOf(gateway)).toMatchObject([{ reason: 'hangup' }]);
    expect(gateway.clock.pending).toBe(0);
  });

  it('is ended by a second start, and no other call is', async () => {
    const gateway = startCalls();
    const rude = gateway.dial().start({ callSid: 'CA1' });
    const other = gateway.dial().start({ callSid: 'CA2' });
    rude.start({ callSid: 'CA1' });
    other.speak(600).stop();
    await gateway.clock.run(100);
    expect(rude.socket.closedWith?.code).toBe(4401);
    expect(endOf(gateway)).toMatchObject([
      { callId: 'CA1', reason: 'error' },
      { callId: 'CA2', reason: 'hangup' },
    ]);
    expect(gateway.registry.summary('CA2')?.transcript).toHaveLength(1);
  });

  it('is ended with the code of what was wrong with a message', async () => {
    const gateway = startCalls();
    const { socket } = gateway.dial().start();
    const before = await metricValue('trunkline_refused_total', { code: 'message_malformed' });
    socket.receive({
      event: 'media',
      streamSid: 'MZ1',
      media: { track: 'inbound', chunk: '1', timestamp: 'soon', payload: '' },
    });
    await settle();
    expect(socket.closedWith?.code).toBe(1007);
    expect(endOf(gateway)).toMatchObject([{ reason: 'error' }]);
    expect((await metricValue('trunkline_refused_total', { code: 'message_malformed' })) - before).toBe(1);
  });

  it('stops reading while the engine is behind and reads again when it has caught up, losing nothing', async () => {
    const gateway = startCalls();
    gateway.engine.held = true;
    const caller = gateway.dial().start().speak(4900);
    expect(caller.socket.isPaused).toBe(false);
    caller.speak(300);
    expect(caller.socket.isPaused).toBe(true);
    await gateway.clock.run(2000);
    expect(caller.socket.isPaused).toBe(true);
    gateway.engine.release();
    await gateway.clock.run(50);
    expect(caller.socket.isPaused).toBe(false);
    caller.hush(600).stop();
    await gateway.clock.run(100);
    expect(finalsOf(gateway.events)).toMatchObject([{ startMs: 0, endMs: 5216 }]);
  });

  it('does not take its own pause for a stall', async () => {
    const gateway = startCalls();
    gateway.engine.held = true;
    const caller = gateway.dial().start().speak(5200);
    await gateway.clock.run(2000);
    gateway.engine.release();
    await gateway.clock.run(500);
    caller.speak(400).hush(600).stop();
    await gateway.clock.run(100);
    expect(finalsOf(gateway.events)).toHaveLength(1);
  });

  it('ends without its last words when the engine never answers', async () => {
    const gateway = startCalls();
    gateway.engine.held = true;
    gateway.dial().start().speak(600).stop();
    await gateway.clock.run(9500, 500);
    expect(endOf(gateway)).toEqual([]);
    await gateway.clock.run(1000, 500);
    expect(endOf(gateway)).toMatchObject([{ reason: 'hangup', durationMs: 600 }]);
    expect(gateway.clock.pending).toBe(0);
    gateway.engine.release();
    await settle();
    expect(gateway.events.at(-1)?.type).toBe('call.ended');
  });

  it('leaves speech, numbers and tokens out of the log', async () => {
    const gateway = startCalls();
    const token = gateway.registry.tokens.issue({ callId: 'CA1', from: '+15550001', to: '+15550002' });
    gateway
      .dial()
      .start({ parameters: { token, name: 'Alice' } })
      .speak(600)
      .stop();
    await gateway.clock.run(100);
    expect(finalsOf(gateway.events)).toHaveLength(1);
    expect(gateway.logLines.length).toBeGreaterThan(1);
    for (const secret of ['secret', '+1555', token, 'Alice']) expect(gateway.logLines.join('')).not.toContain(secret);
  });

  it('keeps its story straight whatever happens in whatever order', async () => {
    const act = fc.constantFrom(
      'speak',
      'hush',
      'lose',
      'press',
      'stop',
      'close',
      'vanish',
      'hangup',
      'start',
      'hold',
      'release',
      'wait',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
        const gateway = startCalls();
        const caller = gateway.dial().start();
        const doing = {
          speak: () => caller.speak(300),
          hush: () => caller.hush(500),
          lose: () => caller.lose(200),
          press: () => caller.press('#'),
          stop: () => caller.stop(),
          close: () => caller.socket.hangUp(1000),
          vanish: () => caller.socket.hangUp(1006),
          hangup: () => gateway.registry.hangup('CA1'),
          start: () => caller.start(),
          hold: () => {
            gateway.engine.held = true;
          },
          release: () => gateway.engine.release(),
          wait: () => gateway.clock.run(300, 50),
        };
        for (const what of acts) await doing[what]();
        gateway.engine.release();
        caller.socket.hangUp();
        await gateway.clock.run(200);
        expectStraightStory(gateway);
      }),
      { numRuns: 60 },
    );
  });
});

/**
 * One start first, one end last, each utterance with a caption has one final after its partials, and nothing is left
 * behind.
 */
function expectStraightStory(gateway: Gateway): void {
  const types = typesOf(gateway.events);
  expect([types[0], types.at(-1)]).toEqual(['call.started', 'call.ended']);
  expect(types.filter((type) => type === 'call.started' || type === 'call.ended')).toHaveLength(2);
  const open = new Map<number, boolean>();
  for (const event of gateway.events) {
    if (event.type !== 'caption') continue;
    expect(open.get(event.utterance)).not.toBe(true);
    open.set(event.utterance, event.final);
  }
  expect([...open.values()].every((final) => final)).toBe(true);
  const starts = types.filter((type) => type === 'speech.started').length;
  expect(types.filter((type) => type === 'speech.stopped')).toHaveLength(starts);
  expect(gateway.clock.pending).toBe(0);
  expect(gateway.registry.liveCount).toBe(0);
}
