import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { decodeG711 } from '../../src/audio/g711.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { type CallOptions, placeCall, TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { FakeClock } from '../fakes/clock.ts';
import { type CarrierMessage, startBridge, type TestBridge } from '../helpers/bridge.ts';

let bridge: TestBridge;
afterEach(() => bridge.close());

/** A ramp, so that every sample of a frame says where it belongs. */
const ramp = (durationMs: number) => Int16Array.from({ length: durationMs * 8 }, (_, index) => (index % 8000) * 4);

async function call(
  options: Partial<CallOptions> = {},
  onMessage?: (message: CarrierMessage, bridge: TestBridge) => void,
) {
  bridge = await startBridge(onMessage);
  const defaults = { url: bridge.url, tracks: { inbound: ramp(100) }, pace: 'fast' as const, clock: new FakeClock() };
  return placeCall({ ...defaults, ...options });
}

/** A call in real time on a clock that the test moves. */
async function callOnFakeClock(options: Partial<CallOptions> = {}) {
  bridge = await startBridge();
  const clock = new FakeClock();
  const caller = new TwilioCaller({
    url: bridge.url,
    tracks: { inbound: ramp(1000) },
    pace: 'realtime',
    clock,
    ...options,
  });
  const report = caller.run();
  await heard('connected', 1);
  const advance = async (durationMs: number) => {
    clock.advance(durationMs);
    await roundTrip();
  };
  return { clock, caller, report, advance };
}

/** Until the server has heard `count` messages of a kind. */
async function heard(event: string, count: number): Promise<void> {
  await expect.poll(() => bridge.events(event).length).toBeGreaterThanOrEqual(count);
}

/** Until everything said before has been heard on both sides. */
async function roundTrip(): Promise<void> {
  await new Promise<void>((resolve) => {
    bridge.socket.once('pong', () => resolve());
    bridge.socket.ping();
  });
}

const media = () =>
  bridge
    .events('media')
    .map((message) => message['media'] as { track: string; chunk: string; timestamp: string; payload: string });
const markNames = () => bridge.events('mark').map((message) => (message['mark'] as { name: string }).name);

describe('a simulated Twilio call', () => {
  it('says connected, start, media, stop in that order and closes with 1000', async () => {
    const report = await call({ callSid: 'CA1', from: '+15550100', parameters: { token: 't' } });
    const { streamSid } = report;
    expect(streamSid).toMatch(/^MZ[0-9a-f]{32}$/);
    expect(bridge.messages.map((message) => message.event)).toEqual([
      'connected',
      'start',
      ...Array(5).fill('media'),
      'stop',
    ]);
    expect(bridge.messages[0]).toEqual({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    expect(bridge.messages[1]).toEqual({
      event: 'start',
      sequenceNumber: '1',
      streamSid,
      start: {
        streamSid,
        accountSid: `AC${'0'.repeat(32)}`,
        callSid: 'CA1',
        tracks: ['inbound'],
        customParameters: { from: '+15550100', token: 't' },
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      },
    });
    expect(bridge.messages[3]).toMatchObject({
      sequenceNumber: '3',
      streamSid,
      media: { track: 'inbound', chunk: '2', timestamp: '20' },
    });
    expect(bridge.messages.at(-1)).toMatchObject({ sequenceNumber: '7', streamSid, stop: { callSid: 'CA1' } });
    expect(report).toMatchObject({ sentMs: 100, closeCode: 1000, warnings: [] });
    await expect.poll(() => bridge.closeCode).toBe(1000);
  });

  it('sends the audio it was given, in frames of 160 bytes of µ-law, the last one filled with silence', async () => {
    await call({ tracks: { inbound: ramp(50) } });
    const frames = media().map(({ payload }) => Buffer.from(payload, 'base64'));
    expect(frames.map((frame) => frame.length)).toEqual([160, 160, 160]);
    expect([...(frames[2]?.subarray(80) ?? [])]).toEqual(Array(80).fill(0xff));
    const heardSamples = decodeG711(Buffer.concat(frames), MULAW_8K);
    for (const [index, sample] of ramp(50).entries())
      expect(Math.abs((heardSamples[index] ?? 0) - sample)).toBeLessThanOrEqual(sample / 25 + 8);
  });

  it('numbers the chunks of each track and the messages of the stream', async () => {
    await call({ tracks: { inbound: ramp(40), outbound: ramp(60) } });
    expect(bridge.events('start')[0]).toMatchObject({ start: { tracks: ['inbound', 'outbound'] } });
    expect(media().map(({ track, chunk, timestamp }) => [track, chunk, timestamp])).toEqual([
      ['inbound', '1', '0'],
      ['outbound', '1', '0'],
      ['inbound', '2', '20'],
      ['outbound', '2', '20'],
      ['inbound', '3', '40'],
      ['outbound', '3', '40'],
    ]);
    expect(bridge.events('media').map((message) => message['sequenceNumber'])).toEqual(['2', '3', '4', '5', '6', '7']);
  });

  it('leaves holes in all three counters where it loses a chunk, the same with the same seed', async () => {
    await call({ tracks: { inbound: ramp(2000) }, lossShare: 0.2, seed: 7 });
    const first = media().map(({ chunk }) => chunk);
    expect(first.length).toBeLessThan(95);
    for (const [index, message] of bridge.events('media').entries()) {
      const { chunk = '', timestamp } = media()[index] ?? {};
      expect(message['sequenceNumber']).toBe(String(Number(chunk) + 1));
      expect(timestamp).toBe(String((Number(chunk) - 1) * 20));
    }
    await bridge.close();
    await call({ tracks: { inbound: ramp(2000) }, lossShare: 0.2, seed: 7 });
    expect(media().map(({ chunk }) => chunk)).toEqual(first);
  });

  it('presses keys between the frames of their time', async () => {
    await call({
      dtmf: [
        { atMs: 45, digit: '#' },
        { atMs: 0, digit: '5' },
      ],
    });
    const events = bridge.messages.slice(2, -1).map((message) => message.event);
    expect(events).toEqual(['media', 'dtmf', 'media', 'media', 'dtmf', 'media', 'media']);
    expect(bridge.events('dtmf').map((message) => message['dtmf'])).toEqual([
      { track: 'inbound_track', digit: '5' },
      { track: 'inbound_track', digit: '#' },
    ]);
  });

  it('refuses DTMF on a stream of both tracks, as Twilio has none there', async () => {
    bridge = await startBridge();
    const tracks = { inbound: ramp(20), outbound: ramp(20) };
    const options = {
      url: bridge.url,
      tracks,
      pace: 'fast' as const,
      clock: new FakeClock(),
      dtmf: [{ atMs: 0, digit: '1' }],
    };
    expect(() => placeCall(options)).toThrow(RangeError);
  });

  it('vanishes without a word when it is told to', async () => {
    const report = await call({ tracks: { inbound: ramp(1000) }, dropAtMs: 400 });
    expect(report).toMatchObject({ sentMs: 400, closeCode: 1006 });
    await expect.poll(() => bridge.closeCode).toBe(1006);
    expect(bridge.events('stop')).toEqual([]);
  });

  it('ends when the server closes, and says with which code', async () => {
    const report = await call({ tracks: { inbound: ramp(60_000) } }, (message, { socket }) => {
      if (message.event === 'start') socket.close(4402);
    });
    expect(report.closeCode).toBe(4402);
    expect(report.sentMs).toBeGreaterThan(0);
  });

  it('signs the handshake', async () => {
    await call({ authToken: '12345', publicOrigin: 'https://bridge.example.com' });
    expect(bridge.request?.headers['x-twilio-signature']).toMatch(/^[\w+/]{27}=$/);
    expect(bridge.request?.headers['sec-websocket-extensions']).toBeUndefined();
  });

  it('says so when the server refuses the handshake', async () => {
    bridge = await startBridge();
    const server = createServer().on('upgrade', (_request, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const url = `ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
    await expect(
      placeCall({ url, tracks: { inbound: ramp(20) }, pace: 'fast', clock: new FakeClock() }),
    ).rejects.toThrow(/did not accept the call.*403/);
    server.close();
  });
});

describe('a simulated call in real time', () => {
  it('sends a frame every 20 ms and makes up for a late timer instead of drifting', async () => {
    const { advance } = await callOnFakeClock();
    await advance(19);
    expect(media().length).toBe(0);
    await advance(1);
    expect(media().length).toBe(1);
    await advance(487);
    expect(media().length).toBe(25);
    await advance(13);
    expect(media().length).toBe(26);
  });

  it('leaves no timer behind', async () => {
    const { clock, caller, report, advance } = await callOnFakeClock();
    await advance(100);
    caller.hangup();
    expect(await report).toMatchObject({ sentMs: 100, closeCode: 1000 });
    expect(bridge.events('stop').length).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('says stop only after what the jitter still holds back', async () => {
    const { clock, caller, report, advance } = await callOnFakeClock({ jitterMs: 200 });
    await advance(100);
    caller.hangup();
    clock.advance(500);
    await report;
    expect(media().length).toBe(5);
    expect(bridge.messages.at(-1)?.event).toBe('stop');
  });

  it('echoes a mark when the audio before it has been played', async () => {
    const { advance, caller } = await callOnFakeClock();
    const { streamSid } = caller;
    await advance(100);
    bridge.say({ event: 'media', streamSid, media: { payload: Buffer.alloc(1600, 0xff).toString('base64') } });
    bridge.say({ event: 'mark', streamSid, mark: { name: 'said' } });
    await roundTrip();
    await advance(180);
    expect(markNames()).toEqual([]);
    await advance(20);
    expect(markNames()).toEqual(['said']);
  });

  it('forgets its audio on clear and echoes the marks that were left at once', async () => {
    let heardBytes = 0;
    const onAudio = (payload: Uint8Array) => {
      heardBytes += payload.filter((byte) => byte === 0xff).length;
    };
    let cleared = 0;
    const onClear = () => {
      cleared++;
    };
    const { caller, advance, report } = await callOnFakeClock({ onAudio, onClear });
    const { streamSid } = caller;
    for (const name of ['one', 'two']) {
      bridge.say({ event: 'media', streamSid, media: { payload: Buffer.alloc(8000, 0xff).toString('base64') } });
      bridge.say({ event: 'mark', streamSid, mark: { name } });
    }
    bridge.say({ event: 'clear', streamSid });
    await heard('mark', 2);
    expect(markNames()).toEqual(['one', 'two']);
    await advance(20);
    caller.hangup();
    expect((await report).received).toEqual({ mediaBytes: 16_000, marks: 2, clears: 1 });
    expect([heardBytes, cleared]).toEqual([16_000, 1]);
  });

  it('presses a key and drops when the test says so', async () => {
    const { caller, report } = await callOnFakeClock();
    caller.sendDtmf('9');
    await heard('dtmf', 1);
    caller.drop();
    expect((await report).closeCode).toBe(1006);
  });

  it('warns of what Twilio would warn of, once each, and goes on', async () => {
    const { caller, report, advance } = await callOnFakeClock();
    const { streamSid } = caller;
    for (const message of ['{', '[]', { event: 'clear', streamSid: 'MZother' }, { event: 'mark', streamSid, mark: {} }])
      bridge.say(message);
    bridge.say({ event: 'media', streamSid, media: { payload: '***' } });
    bridge.say({ event: 'media', streamSid, media: { payload: '***' } });
    bridge.socket.send(Buffer.from([1]));
    await roundTrip();
    await advance(20);
    caller.hangup();
    expect((await report).warnings).toEqual([
      '31951: a message that is no JSON object',
      '31951: a message with another streamSid',
      '31951: a mark without a name',
      '31951: media without a base64 payload',
      '31924: a binary message',
    ]);
  });
});
