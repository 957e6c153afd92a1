import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  AudioSocketCaller,
  type AudioSocketCallOptions,
  type AudioSocketCallReport,
} from '../../../../src/carriers/audiosocket/simulator/caller.ts';
import { AudioSocketReader } from '../../../../src/carriers/audiosocket/simulator/reader.ts';
import { readSettings } from '../../../../src/foundation/settings/config.ts';
import { type Codec, MULAW_8K } from '../../../../src/foundation/units.ts';
import { type Gateway, runGateway } from '../../../../src/gateway/main.ts';
import { PhonePlayback } from '../../../../src/simulator/phone-playback.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { freePort } from '../../../helpers/ports.ts';
import { tones } from '../../../helpers/signals.ts';

const LINEAR_8K: Codec = { name: 'pcm16', rateHz: 8000, channels: 1, bytesPerSample: 2 };
const UUID = '40325ec2-5efd-4bd3-805f-53576e581d13';
const FRAME = Buffer.concat([Buffer.from([0x10, 0x01, 0x40]), Buffer.alloc(320)]);

interface Told {
  readonly kind: number;
  readonly payload: Buffer;
}

function parse(bytes: Buffer): Told[] {
  const messages: Told[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.readUInt16BE(at + 1);
    messages.push({ kind: bytes.readUInt8(at), payload: bytes.subarray(at + 3, at + 3 + size) });
    at += 3 + size;
  }
  return messages;
}

/** Places a call with a server that does `onConnection`; what the server was told. */
async function call(
  options: Partial<AudioSocketCallOptions>,
  onConnection: (socket: Socket) => void = () => undefined,
): Promise<{ report: AudioSocketCallReport; told: Told[] }> {
  const pieces: Buffer[] = [];
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('data', (data) => pieces.push(data));
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const caller = new AudioSocketCaller({
    host: '127.0.0.1',
    port,
    uuid: UUID,
    audio: new Int16Array(800),
    codec: LINEAR_8K,
    driver: 'application',
    pace: 'fast',
    clock: new FakeClock(),
    ...options,
  });
  const report = await caller.run();
  server.close();
  await once(server, 'close');
  return { report, told: parse(Buffer.concat(pieces)) };
}

const kinds = (told: readonly Told[]) => told.map(({ kind, payload }) => [kind, payload.length]);
const LONG = new Int16Array(8000 * 600);

describe('a simulated Asterisk with AudioSocket', () => {
  it('names the call, sends its frames and the short last one, and closes without a word', async () => {
    const { report, told } = await call({ audio: new Int16Array(360) });
    expect(kinds(told)).toEqual([
      [0x01, 16],
      [0x10, 320],
      [0x10, 320],
      [0x10, 80],
    ]);
    expect(told[0]?.payload.toString('hex')).toBe(UUID.replaceAll('-', ''));
    expect(report).toMatchObject({ uuid: UUID, sentMs: 60, endedBy: 'caller', reason: '', warnings: [] });
  });

  it.each([
    ['slin16', { ...LINEAR_8K, rateHz: 16_000 }, [0x12, 640]],
    ['slin192', { ...LINEAR_8K, rateHz: 192_000 }, [0x18, 7680]],
    ['ulaw', MULAW_8K, [0x10, 160]],
  ] as const)('sends %s under its kind, and µ-law under that of slin', async (_name, codec, expected) => {
    const { told } = await call({ codec, audio: new Int16Array(codec.rateHz / 50) });
    expect(kinds(told)[1]).toEqual(expected);
  });

  it('tells keys after their time, loses frames, and sends nothing while the caller is muted', async () => {
    expect(kinds((await call({ dtmf: [{ atMs: 30, digit: '#' }] })).told)[3]).toEqual([0x03, 1]);
    expect(kinds((await call({ lossShare: 1 })).told)).toEqual([[0x01, 16]]);
    expect(kinds((await call({ muted: { fromMs: 0, toMs: 60 } })).told)).toHaveLength(3);
  });

  it('ends when the server hangs up, by its word or by closing', async () => {
    for (const say of [Buffer.from([0, 0, 0]), null]) {
      const { report } = await call({ audio: LONG }, (socket) => (say === null ? socket.end() : socket.write(say)));
      expect(report).toMatchObject({ endedBy: 'bridge', reason: '' });
    }
  });

  it.each([
    ['a kind that is not for it', [0x03, 0, 1, 0x35], /other than hangup or audio/],
    ['sound of no length', [0x10, 0, 0], /Invalid message length/],
  ])('hangs up at %s', async (_what, bytes, reason) => {
    const { report } = await call({ audio: LONG }, (socket) => socket.write(Buffer.from(bytes)));
    expect(report).toMatchObject({ endedBy: 'asterisk', reason: expect.stringMatching(reason) });
  });

  it('waits 5 ms for a payload and no longer', async () => {
    const clock = new FakeClock();
    const { report } = await call({ audio: LONG, clock, pace: 'fast' }, (socket) => {
      socket.write(FRAME.subarray(0, 100));
      setImmediate(function wait() {
        clock.advance(1);
        if (clock.nowMs() < 500) setImmediate(wait);
      });
    });
    expect(report).toMatchObject({ endedBy: 'asterisk', reason: 'Poll timed out while waiting for data' });
  });

  it('does not mind a payload that comes a little later', async () => {
    const { report } = await call({ audio: LONG }, (socket) => {
      socket.write(FRAME.subarray(0, 100));
      setImmediate(() => socket.write(Buffer.concat([FRAME.subarray(100), Buffer.from([0, 0, 0])])));
    });
    expect(report).toMatchObject({ endedBy: 'bridge', heardMs: 20 });
  });

  it.each([
    ['application', 'asterisk'],
    ['channel', 'caller'],
  ] as const)('gives up a line on which nobody sends anything for 2 s only in the %s', async (driver, endedBy) => {
    const clock = new FakeClock();
    const audio = new Int16Array(8000 * 3);
    const ticking = setInterval(() => clock.advance(20), 1);
    const { report } = await call({ audio, clock, driver, pace: 'realtime', muted: { fromMs: 0, toMs: 9000 } });
    clearInterval(ticking);
    expect(report.endedBy).toBe(endedBy);
    expect(report.sentMs).toBe(driver === 'application' ? 2000 : 3000);
  });

  it('fails when nobody answers', async () => {
    await expect(call({ port: await freePort() })).rejects.toThrow(/did not accept the call: .*ECONNREFUSED/);
  });
});

describe('the far party', () => {
  it('hears frames that come on time, and knows how far they were off', () => {
    const party = new PhonePlayback();
    for (const atMs of [0, 20, 40, 65, 80]) party.receive(20, atMs);
    expect(party).toMatchObject({ heardMs: 100, clippedMs: 0, highestAheadMs: 25, longestGapMs: 5 });
  });

  it('throws away what comes too far ahead, as of a second that is sent at once', () => {
    const party = new PhonePlayback();
    for (let i = 0; i < 50; i++) party.receive(20, 0);
    expect(party).toMatchObject({ heardMs: 200, clippedMs: 800, highestAheadMs: 200 });
  });
});

describe('what Asterisk reads', () => {
  it('may come in any pieces', () => {
    const sizes: [number, number][] = [];
    const reader = new AudioSocketReader({ onFrame: (bytes, rateHz) => sizes.push([bytes.length, rateHz]) });
    for (const byte of Buffer.concat([FRAME, FRAME])) reader.receive(Buffer.of(byte));
    expect([sizes, reader.end, reader.waitsForPayload]).toEqual([
      [
        [320, 8000],
        [320, 8000],
      ],
      null,
      false,
    ]);
  });

  it('is not played when it is too long, nor quite right when it ends in half a sample', () => {
    const frames: number[] = [];
    const reader = new AudioSocketReader({ onFrame: (bytes) => frames.push(bytes.length) });
    reader.receive(Buffer.concat([Buffer.from([0x10, 0x3e, 0x80]), Buffer.alloc(16_000)]));
    reader.receive(Buffer.concat([Buffer.from([0x10, 0x01, 0x41]), Buffer.alloc(321)]));
    expect([frames, reader.warnings.size, reader.end]).toEqual([[321], 2, null]);
  });
});

describe('a call from end to end', () => {
  let gateway: Gateway | null = null;
  afterEach(() => gateway?.close());

  it('over AudioSocket is captioned by a gateway, as what it was announced to be', async () => {
    const port = await freePort();
    const tone = {
      ENGINE_WORKERS: '1',
      ASR_MODEL: 'tone',
      VAD_MODEL: 'tone',
      TTS_MODEL: 'tone',
      MODELS_DIR: 'none',
      DATA_DIR: 'none',
      LOG_LEVEL: 'silent',
      PORT: '0',
    };
    gateway = await runGateway(readSettings({ ...tone, AUDIOSOCKET_PORT: String(port) }));
    await fetch(`${gateway.url}/asterisk/calls/${UUID}`, {
      method: 'POST',
      body: new URLSearchParams({ from: '+15550100' }),
    });
    const audio = new Int16Array(8000 * 2);
    audio.set(tones(0.6, [400], 0.3), 800);
    const report = await new AudioSocketCaller({
      host: '127.0.0.1',
      port,
      uuid: UUID,
      audio,
      codec: LINEAR_8K,
      driver: 'application',
      pace: 'fast',
      clock: new FakeClock(),
    }).run();
    const transcript = `${gateway.url}/v1/calls/${UUID}/transcript?format=text`;
    await expect.poll(async () => (await fetch(transcript)).text(), { interval: 50 }).toContain('alpha alpha alpha');
    const view = await (await fetch(`${gateway.url}/v1/calls/${UUID}`)).json();
    expect(view).toMatchObject({ carrier: 'audiosocket', from: '+15550100' });
    expect(report).toMatchObject({ endedBy: 'caller', warnings: [] });
  });
});
