/** Deepgram's clients that send Opus. What is heard in it is in test/audio/opus-stream.test.ts. */
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../helpers/eventually.ts';
import { oggFile, opusHead, opusPackets } from '../../helpers/opus-sound.ts';
import { trackEntry, webmFile, webmHead } from '../../helpers/webm.ts';
import { listen, startServer, type TestServer } from '../../http/test-server.ts';

const PACKET_S = 0.02;
const RATE_HZ = 16_000;
const PIECE_BYTES = 4001;
const UNREADABLE = { code: 1008, reason: expect.stringMatching(/^DATA-0000: got .*, expected/) };

let testServer: TestServer;
afterEach(() => testServer.app.close());

interface Outcome {
  /** The last message of the server. */
  readonly last: Readonly<Record<string, unknown>>;
  readonly code: number;
  readonly reason: string;
}

/** Sends messages of sound, and waits for the end. */
async function send(path: string, messages: readonly Uint8Array[]): Promise<Outcome> {
  testServer = await startServer({});
  const socket = new WebSocket(`${(await listen(testServer.app)).replace(/^http/, 'ws')}${path}`);
  let last = {};
  let closed: { code: number; reason: string } | null = null;
  socket.on('message', (data: Buffer) => {
    last = JSON.parse(data.toString());
  });
  socket.on('close', (code, reason) => {
    closed = { code, reason: reason.toString() };
  });
  await once(socket, 'open');
  for (const message of messages) socket.send(message);
  socket.send(JSON.stringify({ type: 'CloseStream' }));
  await eventually(() => expect(closed).not.toBeNull());
  return { last, ...(closed ?? { code: 0, reason: '' }) };
}

function packets(): Uint8Array[] {
  return opusPackets(Int16Array.from({ length: 3 * RATE_HZ }, (_, at) => 8000 * Math.sin(at / 8)));
}

function pieces(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / PIECE_BYTES);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES));
}

describe('Opus from a client', () => {
  it.each(['/v1/listen', '/v2/listen'])('may come packet by packet; broken ones are counted: %s', async (path) => {
    const sent = packets();
    sent[sent.length - 5] = new Uint8Array(9000);
    const { code, last } = await send(`${path}?encoding=opus&sample_rate=48000`, sent);
    expect(code).toBe(1000);
    expect(await testServer.metrics.registry.metrics()).toContain('trunkline_listen_packets_broken_total 1');
    if (path === '/v1/listen') expect(last).toMatchObject({ duration: sent.length * PACKET_S, channels: 1 });
  });

  it('may come as Ogg where no encoding is named', async () => {
    const sent = packets();
    const { code, last } = await send('/v1/listen', pieces(oggFile(sent)));
    expect(code).toBe(1000);
    expect(last).toMatchObject({ type: 'Metadata', duration: sent.length * PACKET_S });
  });

  it.each(['/v1/listen', '/v2/listen'])('may come as WebM, as browsers stream it: %s', async (path) => {
    const sent = packets();
    const { code, last } = await send(path, pieces(webmFile(sent)));
    expect(code).toBe(1000);
    if (path === '/v1/listen') expect(last).toMatchObject({ type: 'Metadata', duration: sent.length * PACKET_S });
  });

  it('is two channels where they are to be read by themselves', async () => {
    const sent = packets();
    const webm = webmFile(sent, webmHead([trackEntry(1, 'A_OPUS', opusHead(2))]));
    for (const [query, messages] of [
      ['multichannel=true&channels=2', pieces(webm)],
      ['multichannel=true', pieces(oggFile(sent, 2))],
      ['encoding=opus&multichannel=true&channels=2', sent],
    ] as const) {
      const { code, last } = await send(`/v1/listen?${query}`, messages);
      expect(code).toBe(1000);
      expect(last).toMatchObject({ duration: sent.length * PACKET_S, channels: 2 });
      await testServer.app.close();
    }
    testServer = await startServer({});
  });

  it('is refused with what came in a close that a browser shows', async () => {
    const { code, reason } = await send('/v1/listen', [
      Buffer.from('\x01\x80\x02 and text that says nothing of a file'.padEnd(4096, '\x80'), 'latin1'),
    ]);
    expect(code).toBe(1008);
    expect(reason).toMatch(
      /^DATA-0000: got bytes of no known format, expected WAV, MP3, FLAC, AAC, MP4, Ogg or WebM with Opus, or enc/,
    );
  });

  it('may be long silence in few bytes, which is taken as fast as it is heard', async () => {
    // Two frames of 60 ms without sound in each.
    const sent = Array.from({ length: 3000 }, () => Uint8Array.of(0x19));
    const { code, last } = await send('/v1/listen?encoding=opus', sent);
    expect(code).toBe(1000);
    expect(last).toMatchObject({ duration: 360 });
  });

  it('is closed with DATA-0000 where it comes as Ogg in place of packets, or is no Opus', async () => {
    expect(await send('/v1/listen?encoding=opus', pieces(oggFile(packets())))).toMatchObject(UNREADABLE);
    await testServer.app.close();
    const wrong = Array.from({ length: 60 }, () => new Uint8Array(9000));
    expect(await send('/v1/listen?encoding=opus', wrong)).toMatchObject(UNREADABLE);
  });
});
