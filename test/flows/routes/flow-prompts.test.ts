import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readWav, writeWav } from '../../../src/audio/wav.ts';
import { FlowFolder } from '../../../src/flows/file/flow-folder.ts';
import { FlowPrompts } from '../../../src/flows/prompts/flow-prompts.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { RecordingDecoder } from '../../../src/speech/recording-decoder.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { startServer, type TestServer } from '../../http/test-server.ts';

const FLOW = `
version: 1
start: hello
steps:
  hello: {say: {text: Welcome to the shop., recording: hello}, next: order}
  order: {say: "Thank you. You are caller {call.from}."}
`;
const TONE = Int16Array.from({ length: 16_000 }, (_, n) => 500 * Math.sin((2 * Math.PI * 440 * n) / 16_000));

let folder = '';
let prompts: FlowPrompts;
let server: TestServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'flow-prompts-'));
  mkdirSync(join(folder, 'prompts'));
  writeFileSync(join(folder, 'shop.yaml'), FLOW);
  const log = createLog('silent');
  const clock = new FakeClock();
  const decoder = new RecordingDecoder(systemClock);
  server = await startServer({}, undefined, undefined, null, null, async ({ ahead }) => {
    prompts = await FlowPrompts.open({ folder, ahead, decoder, clock, log, usualLanguage: 'en-US' });
    return prompts;
  });
  const flows = await FlowFolder.open(folder, { clock, log, prepare: (set) => prompts.prepare(set) });
  flows.close();
});
afterEach(async () => {
  await server.app.close();
  prompts.close();
  rmSync(folder, { recursive: true, force: true });
});

const get = async (url: string) => (await server.app.inject(url)).json();

async function upload(fields: Record<string, string>, file: Uint8Array) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([file as Uint8Array<ArrayBuffer>]), 'x.wav');
  const request = new Request('http://x/', { method: 'POST', body: form });
  return server.app.inject({
    method: 'POST',
    url: '/v1/flow-recordings',
    headers: { 'content-type': request.headers.get('content-type') ?? '' },
    payload: Buffer.from(await request.arrayBuffer()),
  });
}

describe('the prompts of flows', () => {
  it('are listed with where they are said and how they are made, and can be heard', async () => {
    const { data } = await get('/v1/flow-prompts');
    expect(data).toMatchObject([
      { flow: 'shop', step: 'hello', part: 'prompt', language: 'en-US', recording: 'hello', source: 'made' },
      { flow: 'shop', step: 'order', text: 'Thank you. You are caller {call.from}.', source: 'values' },
    ]);
    const sound = await server.app.inject(`/v1/flow-prompts/${data[1].id}/sound`);
    expect(sound.headers['content-type']).toBe('audio/wav');
    expect(readWav(sound.rawPayload)).toMatchObject({ rateHz: 8000 });
    expect((await server.app.inject(`/v1/flow-prompts/${'0'.repeat(32)}/sound`)).statusCode).toBe(404);
  });

  it('take no recording where its folder cannot be, and say so', async () => {
    rmSync(join(folder, 'prompts'), { recursive: true });
    writeFileSync(join(folder, 'prompts'), '');
    const answer = await upload({ name: 'hello', language: 'en' }, writeWav([TONE], 16_000));
    expect([answer.statusCode, answer.json().error]).toEqual([
      400,
      expect.objectContaining({
        code: 'invalid_request',
        message: expect.stringMatching(/^FLOWS_DIR cannot be written to \(\w+\): change the files there yourself$/),
      }),
    ]);
  });

  it('are made when they are asked for, and it is told how far that is', async () => {
    expect(await get('/v1/flow-prompts/render')).toMatchObject({ isRunning: false, flows: 0 });
    expect((await server.app.inject({ method: 'POST', url: '/v1/flow-prompts/render' })).statusCode).toBe(202);
    await expect
      .poll(() => get('/v1/flow-prompts/render'))
      .toMatchObject({ isRunning: false, flowsDone: 1, sentences: 2 });
  });

  it('are played from a recording once one is uploaded', async () => {
    const wav = writeWav([TONE], 16_000);
    const kept = await upload({ name: 'hello', language: 'en' }, wav);
    expect(kept.statusCode).toBe(201);
    expect(kept.json()).toEqual({ path: 'en/hello.wav', language: 'en', name: 'hello', durationMs: 1000, error: null });
    expect((await get('/v1/flow-recordings')).data).toHaveLength(1);
    expect((await get('/v1/flow-prompts')).data[0]).toMatchObject({ step: 'hello', source: 'recorded' });
  });

  it('are synthesized again once their recording is deleted', async () => {
    const remove = (path: string) => server.app.inject({ method: 'DELETE', url: `/v1/flow-recordings/${path}` });
    await upload({ name: 'hello', language: 'en' }, writeWav([TONE], 16_000));
    expect((await remove('en/hello')).statusCode).toBe(204);
    expect((await get('/v1/flow-recordings')).data).toEqual([]);
    expect((await get('/v1/flow-prompts')).data[0]).toMatchObject({ step: 'hello', source: 'made' });
    const again = await remove('en/hello');
    expect([again.statusCode, again.json().error.code]).toEqual([404, 'prompt_not_found']);
  });

  it('are deleted by their names alone, never by a path', async () => {
    for (const path of ['..%2F..%2Fx/hello', 'en/..%2Fshop', 'en/..%2F..%2Fshop'])
      expect((await server.app.inject({ method: 'DELETE', url: `/v1/flow-recordings/${path}` })).statusCode).toBe(400);
    expect(existsSync(join(folder, 'shop.yaml'))).toBe(true);
  });

  it('are let go of with their flow', async () => {
    expect(server.speech.sentencesOf('Welcome to the shop.')).toEqual([]);
    prompts.forget('shop');
    expect(server.speech.sentencesOf('Welcome to the shop.')).toEqual(['Welcome to the shop.']);
    expect((await get('/v1/flow-prompts')).data).toEqual([]);
  });

  it.each([
    [{ name: '../hello', language: 'en' }, 400, 'name: got \\"../hello\\", expected a name'],
    [{ name: 'hello', language: '..' }, 400, 'language: got \\"..\\", expected a language'],
    [{ name: 'hello', language: 'en' }, 400, 'it is text, expected WAV, MP3, FLAC or Ogg'],
  ])('refuse %j', async (fields, status, message) => {
    const answer = await upload(fields, Buffer.from('This is no sound at all, but words.'));
    expect(answer.statusCode).toBe(status);
    expect(answer.body).toContain(message);
    expect((await get('/v1/flow-recordings')).data).toEqual([]);
  });
});
