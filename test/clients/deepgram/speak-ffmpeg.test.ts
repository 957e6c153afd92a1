/** Speech in the encodings that need ffmpeg, read back with ffmpeg. Without ffmpeg on PATH nothing of it is run. */
import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { listen, startServer, type TestServer } from '../../http/test-server.ts';

const HAS_FFMPEG = spawnSync('ffmpeg', ['-version']).status === 0;
/** The fake voice speaks 12 characters for so long; encoders add some ms of their own. */
const HELLO_MS = 240;
const PADDING_MS = 150;

let testServer: TestServer;
afterEach(() => testServer.app.close());

/** The length of what `bytes` sound like. */
function soundMs(bytes: Uint8Array): number {
  const options = ['-v', 'error', '-i', 'pipe:0', '-ar', '16000', '-ac', '1', '-f', 's16le', 'pipe:1'];
  const { stdout, stderr, status } = spawnSync('ffmpeg', options, { input: bytes, maxBuffer: 10_000_000 });
  if (status !== 0) throw new Error(`ffmpeg reads none of it: ${stderr}`);
  return stdout.length / 32;
}

describe.skipIf(!HAS_FFMPEG)('POST /v1/speak', () => {
  it.each([
    ['opus', 'audio/ogg; codecs=opus', 'OggS'],
    ['opus&bit_rate=12000', 'audio/ogg; codecs=opus', 'OggS'],
    ['flac', 'audio/flac', 'fLaC'],
    ['flac&sample_rate=8000', 'audio/flac', 'fLaC'],
    ['aac', 'audio/aac', '\u00ff'],
  ])('answers encoding=%s with %s that can be heard', async (query, contentType, magic) => {
    testServer = await startServer({}, 'ffmpeg');
    const response = await fetch(`${await listen(testServer.app)}/v1/speak?encoding=${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Hello there.' }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect([response.status, response.headers.get('content-type')]).toEqual([200, contentType]);
    expect(Buffer.from(bytes).toString('latin1').startsWith(magic)).toBe(true);
    const lengthMs = soundMs(bytes);
    expect(lengthMs).toBeGreaterThan(HELLO_MS - PADDING_MS);
    expect(lengthMs).toBeLessThan(HELLO_MS + PADDING_MS);
  });
});
