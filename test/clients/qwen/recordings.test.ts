import { afterEach, describe, expect, it } from 'vitest';
import { formOf, type RecordingServer, speechFile, startRecordingServer } from '../../http/recording-server.ts';

let testServer: RecordingServer;
afterEach(() => testServer.close());

type Fields = readonly (readonly [string, string])[];

const NO_AUDIO = new Blob(['{"a": 1}']);
const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const STREAM = '/v1/audio/transcriptions/stream';
const SUBTITLES = '/v1/audio/subtitles';

async function post(
  path: string,
  file: Blob | null,
  fields: Fields = [],
): Promise<{ status: number; id: string | null; body: unknown }> {
  const response = await fetch(`${testServer.url}${path}`, { method: 'POST', body: formOf(file, fields) });
  return { status: response.status, id: response.headers.get('x-request-id'), body: await response.json() };
}

describe("the Qwen3-ASR server's clients", () => {
  it.each<[string, Fields, string]>([
    ['no model, as that server has no such field', [], 'English'],
    ['its model', [['model', 'qwen3-asr']], 'English'],
    ["its model's name at its publisher", [['model', 'Qwen/Qwen3-ASR-1.7B']], 'English'],
    ["OpenAI's model", [['model', 'gpt-4o-transcribe']], 'english'],
  ])('read the language as they know it: with %s', async (_what, fields, language) => {
    testServer = await startRecordingServer();
    const { body } = await post(TRANSCRIPTIONS, speechFile([1]), [
      ...fields,
      ['language', 'English'],
      ['return_timestamps', 'true'],
    ]);
    expect(body).toMatchObject({ text: 'W1.', language });
  });

  it.each<[string, string, Fields]>([
    ['their own path', STREAM, [['model', 'whisper-1']]],
    ['their own path, subtitles', SUBTITLES, []],
    ['their model', TRANSCRIPTIONS, [['model', 'qwen3-asr-0.6b']]],
  ])('are told what is wrong in their shape: %s', async (_what, path, fields) => {
    testServer = await startRecordingServer();
    const { status, id, body } = await post(path, NO_AUDIO, fields);
    const context = { requestId: id, param: 'file' };
    const message = expect.stringMatching(/^the file cannot be decoded/);
    expect([status, body]).toEqual([422, { code: 'AUDIO_DECODE_FAILED', message, statusCode: 422, context }]);
  });

  it('are told both ways where nobody said whose request it is', async () => {
    testServer = await startRecordingServer();
    const { status, body } = await post(TRANSCRIPTIONS, NO_AUDIO);
    expect([status, body]).toMatchObject([
      400,
      { code: 'AUDIO_DECODE_FAILED', statusCode: 400, error: { code: 'audio_unreadable' } },
    ]);
  });

  it("leave OpenAI's clients with OpenAI's shape", async () => {
    testServer = await startRecordingServer();
    const { status, body } = await post(TRANSCRIPTIONS, NO_AUDIO, [['model', 'whisper-1']]);
    expect([status, Object.keys(body as object)]).toEqual([400, ['error']]);
  });

  it('get 422 where the file is missing', async () => {
    testServer = await startRecordingServer();
    expect(await post(SUBTITLES, null, [['mode', 'fast']])).toMatchObject({
      status: 422,
      body: { code: 'INVALID_REQUEST', statusCode: 422 },
    });
  });

  it('get 422 where the file is missing and the body is no form for files at all', async () => {
    testServer = await startRecordingServer();
    const response = await fetch(`${testServer.url}${SUBTITLES}`, {
      method: 'POST',
      body: new URLSearchParams({ mode: 'fast' }),
    });
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { code: 'INVALID_REQUEST', context: { param: 'file' } },
    ]);
  });

  it.each(['fast', 'accurate', ''])('may make subtitles in the mode "%s"', async (mode) => {
    testServer = await startRecordingServer();
    const response = await fetch(`${testServer.url}${SUBTITLES}`, {
      method: 'POST',
      body: formOf(speechFile([1]), [['mode', mode]]),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('W1.')]);
  });

  it('are refused a mode there is not', async () => {
    testServer = await startRecordingServer();
    const { status, body } = await post(SUBTITLES, speechFile([1]), [['mode', 'perfect']]);
    expect([status, body]).toMatchObject([
      400,
      { context: { param: 'mode' }, message: expect.stringContaining('"accurate" or "fast"') },
    ]);
  });

  it('are told of an engine that fails in the midst of a stream by an event in their shape', async () => {
    testServer = await startRecordingServer();
    const hear = testServer.engine.hear;
    testServer.engine.hear = (request) => {
      if (testServer.engine.transcribed.length > 1) throw new Error('planted');
      return hear(request);
    };
    const response = await fetch(`${testServer.url}${STREAM}`, { method: 'POST', body: formOf(speechFile([1], [2])) });
    const last = (await response.text()).trim().split('\n\n').at(-1)?.slice('data: '.length) ?? '';
    expect(JSON.parse(last)).toMatchObject({
      code: 'INTERNAL',
      statusCode: 500,
      context: { requestId: response.headers.get('x-request-id') },
    });
  });
});
