import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { measureLoudness, PHONE_LOUDNESS_LUFS } from '../../../src/audio/loudness.ts';
import { readWav, writeWav } from '../../../src/audio/wav.ts';
import { startServer, type TestServer } from '../test-server.ts';

let server: TestServer;
let directory: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'prompts-'));
  server = await startServer({ PROMPT_CACHE_DIR: directory });
});
afterEach(async () => {
  await server.app.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A second of a soft tone. */
const TONE = Int16Array.from({ length: 16_000 }, (_, n) => 500 * Math.sin((2 * Math.PI * 440 * n) / 16_000));

async function record(fields: Record<string, string>, samples: Int16Array | null = TONE) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  if (samples !== null) form.set('file', new Blob([writeWav([samples], 16_000) as Uint8Array<ArrayBuffer>]), 'x.wav');
  const request = new Request('http://x/', { method: 'POST', body: form });
  return server.app.inject({
    method: 'POST',
    url: '/v1/prompts',
    headers: { 'content-type': request.headers.get('content-type') ?? '' },
    payload: Buffer.from(await request.arrayBuffer()),
  });
}

const list = async (query = '') => (await server.app.inject(`/v1/prompts${query}`)).json();
const speak = (input: string) =>
  server.app.inject({ method: 'POST', url: '/v1/audio/speech', payload: { input, response_format: 'wav' } });

describe('GET /v1/prompts', () => {
  it('lists what was spoken, with text, voice and how it is used', async () => {
    expect(await list()).toEqual({ data: [], next: null });
    await speak('Please hold the line.');
    const { data } = await list();
    expect(data).toMatchObject([{ source: 'requests', text: 'Please hold the line.', voice: 'rms', speed: 1 }]);
    expect(data[0].durationMs).toBeGreaterThan(0);
  });

  it('goes page by page', async () => {
    for (const text of ['One.', 'Two.', 'Three.']) {
      await speak(text);
      server.clock.advance(1000);
    }
    const first = await list('?limit=2');
    expect(first.data.map(({ text }: { text: string }) => text)).toEqual(['Three.', 'Two.']);
    const second = await list(`?limit=2&cursor=${first.next}`);
    expect(second).toMatchObject({ data: [{ text: 'One.' }], next: null });
  });
});

describe('a prompt', () => {
  it('can be listened to as WAV', async () => {
    await speak('Please hold the line.');
    const [{ id }] = (await list()).data;
    const answer = await server.app.inject(`/v1/prompts/${id}/sound`);
    expect(answer.headers['content-type']).toBe('audio/wav');
    expect(readWav(answer.rawPayload).channels[0]?.length).toBeGreaterThan(1000);
  });

  it('can be forgotten alone', async () => {
    for (const text of ['One.', 'Two.']) await speak(text);
    const [{ id, text }] = (await list()).data;
    expect((await server.app.inject({ method: 'DELETE', url: `/v1/prompts/${id}` })).statusCode).toBe(204);
    expect((await list()).data.map((each: { text: string }) => each.text)).not.toContain(text);
    const again = await server.app.inject({ method: 'DELETE', url: `/v1/prompts/${id}` });
    expect([again.statusCode, again.json().error.code]).toEqual([404, 'prompt_not_found']);
  });
});

describe('a recorded prompt', () => {
  const TEXT = 'Welcome to Harbor Internet, how can I help you today? Please hold.';

  it('takes the place of the synthesized text, as loud as all other speech', async () => {
    await speak(TEXT);
    const answer = await record({ text: ` ${TEXT} ` });
    expect(answer.json()).toMatchObject({ source: 'recorded', text: TEXT, voice: 'rms', durationMs: 1000 });
    expect(answer.statusCode).toBe(201);
    const spoken = readWav((await speak(TEXT)).rawPayload);
    const [samples = new Int16Array(0)] = spoken.channels;
    expect(samples.length / spoken.rateHz).toBeCloseTo(1, 1);
    expect(measureLoudness(samples, spoken.rateHz)).toBeCloseTo(PHONE_LOUDNESS_LUFS, 0);
    expect((await list()).data[0]).toMatchObject({ source: 'recorded', text: TEXT });
  });

  it('is replaced by another one of the same text, and synthesized again when it is deleted', async () => {
    await record({ text: TEXT });
    await speak(TEXT);
    const { id } = (await record({ text: TEXT }, TONE.subarray(0, 8000))).json();
    const half = readWav((await speak(TEXT)).rawPayload);
    expect((half.channels[0]?.length ?? 0) / half.rateHz).toBeCloseTo(0.5, 1);
    await server.app.inject({ method: 'DELETE', url: `/v1/prompts/${id}` });
    const spoken = readWav((await speak(TEXT)).rawPayload);
    expect((spoken.channels[0]?.length ?? 0) / spoken.rateHz).not.toBeCloseTo(0.5, 1);
    expect(readdirSync(join(directory, 'recorded'))).toEqual([]);
  });

  it('is there after a restart', async () => {
    await record({ text: TEXT });
    await server.app.close();
    await server.speech.close();
    server = await startServer({ PROMPT_CACHE_DIR: directory });
    expect((await list()).data).toMatchObject([{ source: 'recorded', text: TEXT }]);
    const spoken = readWav((await speak(TEXT)).rawPayload);
    expect((spoken.channels[0]?.length ?? 0) / spoken.rateHz).toBeCloseTo(1, 1);
  });

  it.each([
    ['no file', { text: 'Hi.' }, null, /^file: got nothing/],
    ['no text', {}, TONE, /^text: got nothing/],
    ['a text that is too long', { text: 'x'.repeat(1001) }, TONE, /^text: got 1001 characters/],
    ['a voice that does not exist', { text: 'Hi.', voice: 'nobody' }, TONE, /^voice: got "nobody"/],
    ['a recording that is too long', { text: 'Hi.' }, new Int16Array(16_000 * 121), /121 s long/],
  ])('is refused with %s', async (_what, fields, samples, message) => {
    const answer = await record(fields as Record<string, string>, samples);
    expect([answer.statusCode, answer.json().error.message]).toEqual([400, expect.stringMatching(message)]);
  });

  it('is refused where it is no WAV file', async () => {
    const form = new FormData();
    form.set('text', 'Hi.');
    form.set('file', new Blob(['hello']), 'x.wav');
    const request = new Request('http://x/', { method: 'POST', body: form });
    const answer = await server.app.inject({
      method: 'POST',
      url: '/v1/prompts',
      headers: { 'content-type': request.headers.get('content-type') ?? '' },
      payload: Buffer.from(await request.arrayBuffer()),
    });
    expect(answer.json().error.message).toMatch(/not a WAV file/);
  });
});
