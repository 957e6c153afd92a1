/** What a call says, seen from Twilio and from the feed. */
import { describe, expect, it } from 'vitest';
import type { CallVoice } from '../../../src/calls/outbound/voice.ts';
import { type Caller, type Gateway, metricValue, startCalls } from '../harness.ts';
import { turns } from '../speaking.ts';

const TEXT = 'Your balance is forty two dollars.';

interface Media {
  readonly event: string;
  readonly streamSid: string;
  readonly media?: { readonly payload: string };
  readonly mark?: { readonly name: string };
}

function sentTo(caller: Caller): Media[] {
  return caller.socket.sent.map((message) => JSON.parse(message) as Media);
}

/** Lets `ms` pass. Twilio plays what it was sent in real time and returns the marks. */
async function play(gateway: Gateway, caller: Caller, ms: number): Promise<void> {
  await turns();
  for (let passed = 0; passed < ms; passed += 20) {
    gateway.clock.advance(20);
    await turns();
    caller.returnMarks(gateway.clock.nowMs());
    await turns();
  }
}

function voiceOf(gateway: Gateway, id = 'CA1'): CallVoice {
  const voice = gateway.registry.voice(id);
  if (voice === undefined) throw new Error(`there is no live call ${id}`);
  return voice;
}

const spokenIn = (gateway: Gateway) => gateway.events.filter((event) => event.type === 'spoken');

describe('a call that speaks', () => {
  it('sends Twilio whole frames of its stream and a mark, and tells the feed what was heard', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start();
    caller.hush(300);
    voiceOf(gateway).say(TEXT);
    await play(gateway, caller, 1000);
    const sent = sentTo(caller);
    expect(sent.every(({ streamSid }) => streamSid === 'MZ1')).toBe(true);
    expect(sent.map(({ event }) => event)).toEqual([...Array(TEXT.length).fill('media'), 'mark']);
    for (const { media } of sent.slice(0, -1)) expect(Buffer.from(media?.payload ?? '', 'base64')).toHaveLength(160);
    expect(spokenIn(gateway).map((event) => JSON.stringify(event))).toEqual([
      `{"type":"spoken","callId":"CA1","utterance":"u1","text":"${TEXT}","heardText":"${TEXT}","interrupted":false,"startMs":300,"endMs":980,"atMs":300}`,
    ]);
    expect(gateway.logLines.join()).not.toContain('balance');
  });

  it('falls silent when the caller speaks, and tells how far it came', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start();
    voiceOf(gateway).say(TEXT.repeat(3));
    await play(gateway, caller, 500);
    caller.speak(200);
    await play(gateway, caller, 60);
    expect(sentTo(caller).at(-1)?.event).toBe('clear');
    caller.speak(400);
    await play(gateway, caller, 200);
    expect(spokenIn(gateway)).toMatchObject([
      { utterance: 'u1', heardText: 'Your balance is forty', interrupted: true },
    ]);
    expect(sentTo(caller).filter(({ event }) => event === 'clear')).toHaveLength(1);
  });

  it('goes on after a cough', async () => {
    const gateway = startCalls();
    gateway.engine.hear = () => ({ text: '' });
    const caller = gateway.dial().start();
    voiceOf(gateway).say(TEXT);
    await play(gateway, caller, 200);
    caller.speak(120);
    await play(gateway, caller, 60);
    expect(sentTo(caller).at(-1)?.event).toBe('clear');
    caller.hush(600);
    await play(gateway, caller, 2000);
    expect(spokenIn(gateway)).toMatchObject([{ heardText: TEXT, interrupted: false }]);
  });

  it('falls silent when a key is pressed, and tells of the key first', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start();
    voiceOf(gateway).say(TEXT);
    await play(gateway, caller, 200);
    caller.press('5');
    expect(gateway.events.slice(-2)).toMatchObject([{ type: 'dtmf' }, { type: 'spoken', interrupted: true }]);
  });

  it.each([
    ['off', 0],
    ['speech', 0],
    ['dtmf', 1],
    ['any', 1],
  ])('may be told by its parameter what interrupts: %s', async (bargeIn, interruptions) => {
    const gateway = startCalls({ BARGE_IN: 'off' });
    const caller = gateway.dial().start({ parameters: { bargeIn } });
    voiceOf(gateway).say(TEXT);
    await play(gateway, caller, 200);
    caller.press('5');
    expect(spokenIn(gateway)).toHaveLength(interruptions);
    expect(gateway.registry.get('CA1')?.state).toBe('live');
  });

  it('does not begin with a parameter that nobody understands', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start({ parameters: { bargeIn: 'sometimes' } });
    await turns();
    expect(caller.socket.closedWith).toMatchObject({ code: 4000, reason: expect.stringContaining('bargeIn') });
    expect(gateway.registry.liveCount).toBe(0);
  });

  it('keeps its own echo out of the captions', async () => {
    const before = await metricValue('trunkline_echoes_total', {});
    const gateway = startCalls();
    gateway.engine.hear = () => ({ text: 'Your balance is forty two' });
    const caller = gateway.dial().start();
    voiceOf(gateway).say(TEXT, { interruptible: false });
    await play(gateway, caller, 200);
    caller.speak(640).hush(600);
    await play(gateway, caller, 1000);
    expect(gateway.events.filter(({ type }) => type === 'caption')).toEqual([]);
    expect(gateway.registry.summary('CA1')?.transcript.map(({ kind }) => kind)).toEqual(['spoken']);
    expect(await metricValue('trunkline_echoes_total', {})).toBe(before + 1);
  });

  it('cannot speak where the stream only listens', () => {
    const gateway = startCalls();
    gateway.dial().start({ tracks: ['inbound', 'outbound'] });
    expect(() => voiceOf(gateway).say(TEXT)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});

describe('the end of a call that speaks', () => {
  it('comes after its last words when it is hung up', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start();
    voiceOf(gateway).say('Goodbye.');
    expect(gateway.registry.hangup('CA1')).toBe(true);
    await play(gateway, caller, 100);
    expect(caller.socket.closedWith).toBeNull();
    await play(gateway, caller, 500);
    expect(caller.socket.closedWith).toMatchObject({ code: 1000 });
    expect(gateway.events.slice(-2)).toMatchObject([
      { type: 'spoken', heardText: 'Goodbye.', interrupted: false },
      { type: 'call.ended', reason: 'api' },
    ]);
  });

  it('comes at once when it is hung up again, or after 30 s', async () => {
    const again = startCalls();
    const caller = again.dial().start();
    voiceOf(again).say(TEXT);
    again.registry.hangup('CA1');
    again.registry.hangup('CA1');
    await turns();
    expect(caller.socket.closedWith).toMatchObject({ code: 1000 });

    const endless = startCalls();
    const other = endless.dial().start();
    voiceOf(endless).open().write('Never ends');
    endless.registry.hangup('CA1');
    endless.clock.advance(29_999);
    await turns();
    expect(other.socket.closedWith).toBeNull();
    endless.clock.advance(1);
    await turns();
    expect(other.socket.closedWith).toMatchObject({ code: 1000 });
  });

  it('tells what was heard before it tells that the call is over, and leaves nothing behind', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start();
    const voice = voiceOf(gateway);
    voice.say(TEXT);
    voice.say('Never begun.');
    await play(gateway, caller, 300);
    caller.stop();
    await turns();
    gateway.clock.advance(2000);
    await turns();
    expect(gateway.events.slice(-3)).toMatchObject([
      { type: 'spoken', utterance: 'u1', heardText: 'Your balance is', interrupted: true },
      { type: 'spoken', utterance: 'u2', heardText: '', interrupted: true },
      { type: 'call.ended', reason: 'hangup' },
    ]);
    expect(gateway.clock.pending).toBe(0);
    expect(gateway.engine.pending).toBe(0);
    expect(() => voice.say('Anybody there?')).toThrow(expect.objectContaining({ code: 'call_not_found' }));
    expect(gateway.registry.voice('CA1')).toBeUndefined();
  });
});

describe('a long text in the feed', () => {
  it('is cut', async () => {
    const gateway = startCalls();
    gateway.dial().start();
    const voice = voiceOf(gateway);
    voice.say('All work and no play makes a dull call. '.repeat(2500));
    await turns();
    voice.interrupt();
    expect(spokenIn(gateway)[0]).toMatchObject({ heardText: '' });
    expect(JSON.stringify(spokenIn(gateway)[0]).length).toBeLessThan(5000);
  });
});
