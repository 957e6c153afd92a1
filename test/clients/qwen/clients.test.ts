/** What clients of the Qwen3-TTS and Qwen3-ASR servers send, and what they expect of an answer. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readWav } from '../../../src/audio/wav.ts';
import { startServer, type TestServer } from '../../http/test-server.ts';

let testServer: TestServer;
beforeEach(async () => {
  testServer = await startServer();
});
afterEach(() => testServer.app.close());

const HELLO = 'Hello there.';

function post(url: string, payload: object, headers: Record<string, string> = {}) {
  return testServer.app.inject({ method: 'POST', url, payload, headers });
}

const speak = (fields: object) =>
  post('/v1/audio/speech', { model: 'qwen3-tts', input: HELLO, voice: 'alloy', ...fields });

/** An error as those servers have it. */
const theirs = (code: string, statusCode: number, requestId: unknown, param?: string) => ({
  code,
  statusCode,
  message: expect.any(String),
  context: { requestId, ...(param !== undefined && { param }) },
});

describe("POST /v1/audio/speech of the Qwen3-TTS server's clients", () => {
  it.each(['qwen3-tts', 'Qwen/Qwen3-TTS-12Hz-1.7B-Base', 'qwen3-tts-0.6b'])(
    'is a whole WAV file for the model %s',
    async (model) => {
      const answer = await speak({ model });
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'audio/wav']);
      expect(Number(answer.headers['content-length'])).toBe(answer.rawPayload.length);
      expect(answer.rawPayload.readUInt32LE(40)).toBe(answer.rawPayload.length - 44);
    },
  );

  it("is theirs too without a model, as in that server's examples, where the voice is one of its own", async () => {
    const answer = await post('/v1/audio/speech', { input: HELLO, voice: 'vivian' });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'audio/wav']);
    expect((await post('/v1/audio/speech', { input: HELLO })).headers['content-type']).toBe('audio/mpeg');
    expect(
      (await post('/v1/audio/speech', { model: 'tts-1', input: HELLO, voice: 'vivian' })).headers['content-type'],
    ).toBe('audio/mpeg');
  });

  it('takes null for what is left out, and fields that only models there understand', async () => {
    const nothing = {
      language: null,
      sample_rate: null,
      instruct: null,
      temperature: 0.8,
      top_p: 0.9,
      stream_mode: 'sentence',
    };
    expect((await speak(nothing)).statusCode).toBe(200);
    expect((await speak({ voice: null })).statusCode).toBe(200);
  });

  it.each([
    [{ input: '' }, 'EMPTY_INPUT', 400, 'input'],
    [{ input: '   ' }, 'EMPTY_INPUT', 400, 'input'],
    [{ input: undefined }, 'EMPTY_INPUT', 400, 'input'],
    [{ input: '…!' }, 'INVALID_REQUEST', 400, 'input'],
    [{ voice: 'nobody' }, 'UNKNOWN_VOICE', 400, 'voice'],
    [{ model: 'qwen3-asr' }, 'MODEL_NOT_FOUND', 404, 'model'],
    [{ response_format: 'opus' }, 'UNSUPPORTED_FORMAT', 400, 'response_format'],
  ])('refuses %j in the shape that they read', async (fields, code, status, param) => {
    const answer = await speak(fields);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual(theirs(code, status, answer.headers['x-request-id'], param));
  });

  it('says it in both shapes where a request tells nothing of its client', async () => {
    const answer = await post('/v1/audio/speech', { input: HELLO, voice: 'nobody' });
    const { error, ...rest } = answer.json<{ error: { code: string } }>();
    expect(error.code).toBe('invalid_request');
    expect(rest).toEqual(theirs('UNKNOWN_VOICE', 400, answer.headers['x-request-id'], 'voice'));
  });

  it("says it in OpenAI's shape alone to OpenAI's clients", async () => {
    expect(Object.keys((await speak({ model: 'tts-1', voice: 'nobody' })).json())).toEqual(['error']);
  });

  it('says that too many ask by the code that they know', async () => {
    await testServer.app.close();
    testServer = await startServer({ SPEECH_REQUESTS_MAX: '1' });
    testServer.engine.speakMs = 100;
    const first = speak({});
    await expect.poll(() => testServer.engine.pending).toBe(1);
    const refused = await speak({});
    expect([refused.statusCode, refused.json().code, refused.headers['retry-after']]).toEqual([429, 'QUEUE_FULL', '2']);
    testServer.clock.advance(100);
    expect((await first).statusCode).toBe(200);
  });

  it('counts them, so that one sees when the last has moved', async () => {
    await speak({});
    await speak({ model: 'tts-1' });
    await post('/cache/clear', {});
    const { values } = await testServer.metrics.qwenRequests.get();
    expect(values.map(({ labels, value }) => [labels['route'], value])).toEqual([
      ['/v1/audio/speech', 1],
      ['/cache/clear', 1],
    ]);
  });
});

describe('paths that only the Qwen3-TTS server has', () => {
  it('say errors in its shape, whatever the model', async () => {
    const answer = await post('/v1/audio/speech/stream', { model: 'tts-1', input: ' ' });
    expect(answer.json()).toEqual(theirs('EMPTY_INPUT', 400, answer.headers['x-request-id'], 'input'));
  });

  it('end an event stream that fails as that server does', async () => {
    testServer.engine.utter = ({ text }) => {
      if (text.startsWith('Two')) throw new Error('it broke');
      return new Int16Array(320);
    };
    const { body } = await post('/v1/audio/speech/stream', { input: 'One is here. Two is there.' });
    expect(body).toMatch(/^data: [\w+/=]+\n\ndata: \[ERROR\] the server failed;[^\n]*\n\n$/);
  });

  it('tell what speaks', async () => {
    const info = (await testServer.app.inject('/v1/info')).json<{ voices: string[] }>();
    expect(info).toMatchObject({ stream_type: 'sentence', model_id: 'flite' });
    expect(info.voices).toEqual(expect.arrayContaining(['slt', 'alloy', 'vivian', 'sohee']));
  });
});

const BOUNDARY = 'x-boundary';

function clone(parts: readonly [string, string][], contentType = `multipart/form-data; boundary=${BOUNDARY}`) {
  const body = parts
    .map(([head, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`)
    .join('');
  const payload = `${body}--${BOUNDARY}--\r\n`;
  return testServer.app.inject({
    method: 'POST',
    url: '/v1/audio/speech/clone',
    headers: { 'content-type': contentType },
    payload,
  });
}

describe('POST /v1/audio/speech/clone', () => {
  const file: [string, string] = ['name="file"; filename="ref.wav"', 'RIFF'.repeat(50_000)];
  const input: [string, string] = ['name="input"', HELLO];

  it.each([
    ['without a file', [input], 422, 'INVALID_REQUEST', 'file'],
    ['without a text', [file], 400, 'EMPTY_INPUT', 'input'],
    ['with an empty text', [['name="input"', ' '] as [string, string], file], 400, 'EMPTY_INPUT', 'input'],
    ['with neither', [], 422, 'INVALID_REQUEST', 'file'],
    ['with both', [file, ['name="ref_text"', 'x'] as [string, string], input], 501, 'NOT_IMPLEMENTED', undefined],
  ])('is refused %s', async (_what, parts, status, code, param) => {
    const answer = await clone(parts);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual(theirs(code, status, answer.headers['x-request-id'], param));
  });

  it('asks for a form, and for a whole one', async () => {
    expect((await clone([], 'application/x-www-form-urlencoded')).json().message).toMatch(
      /expected multipart\/form-data/,
    );
    const broken = await testServer.app.inject({
      method: 'POST',
      url: '/v1/audio/speech/clone',
      payload: Buffer.alloc(100_000),
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    });
    expect([broken.statusCode, broken.json().message]).toEqual([
      422,
      expect.stringMatching(/^the form is broken or ended early/),
    ]);
  });
});

describe('WAV', () => {
  const wav = (fields: object) =>
    post('/v1/audio/speech', { model: 'tts-1', voice: 'alloy', response_format: 'wav', ...fields });
  const sizes = (file: Buffer) => [file.readUInt32LE(4), file.readUInt32LE(40)];

  it('of a short text has its true sizes, and the answer its length', async () => {
    const { rawPayload, headers } = await wav({ input: 'One is here. Two is there.' });
    expect(sizes(rawPayload)).toEqual([rawPayload.length - 8, rawPayload.length - 44]);
    expect(Number(headers['content-length'])).toBe(rawPayload.length);
    expect(readWav(rawPayload).channels[0]?.length).toBe(20 * 25 * 16);
  });

  const long = 'This one here is a sentence. '.repeat(20);

  it('of a long one is sent while it grows, and says that its size is not known', async () => {
    const { rawPayload, headers } = await wav({ input: long });
    expect(sizes(rawPayload)).toEqual([0xffff_ffff, 0xffff_ffff]);
    expect(headers['content-length']).toBeUndefined();
  });

  it("of a long one is whole for the Qwen3-TTS server's clients, unless it becomes very large", async () => {
    const { rawPayload } = await wav({ model: 'qwen3-tts', input: long });
    expect(sizes(rawPayload)).toEqual([rawPayload.length - 8, rawPayload.length - 44]);
    testServer.engine.utter = () => new Int16Array(16_000 * 60);
    const large = await wav({ model: 'qwen3-tts', input: 'Another is here. '.repeat(6) });
    expect(sizes(large.rawPayload)).toEqual([0xffff_ffff, 0xffff_ffff]);
    expect(large.rawPayload.length).toBe(44 + 6 * 60 * 32_000);
  });

  it('that fails on the way is an error, where nothing of it has been sent', async () => {
    testServer.engine.utter = ({ text }) => {
      if (text.startsWith('Two')) throw new Error('it broke');
      return new Int16Array(320);
    };
    expect((await wav({ input: 'One is here. Two is there.' })).statusCode).toBe(500);
  });
});

describe('what Open WebUI asks for', () => {
  it('are voices with what an operator wants to know of them', async () => {
    const { voices } = testServer.engine;
    testServer.engine.voices = voices.map((voice) => (voice.name === 'slt' ? { ...voice, cost: 0.95 } : voice));
    const { data } = (await testServer.app.inject('/v1/voices')).json<{ data: unknown[] }>();
    testServer.engine.voices = voices;
    const shared = { engine: 'fake', language: 'en-US', rateHz: 16_000, licence: 'none' };
    expect(data).toEqual([
      { ...shared, name: 'rms', cost: 0.02, live: true, default: true },
      { ...shared, name: 'slt', cost: 0.95, live: false, default: false },
    ]);
  });

  it('are voices with an id and a name', async () => {
    const { voices } = (await testServer.app.inject('/v1/audio/voices')).json<{ voices: { id: string }[] }>();
    expect(voices).toContainEqual({ id: 'slt', name: 'slt', language: 'en-US' });
    expect(voices).toContainEqual({ id: 'alloy', name: 'alloy (slt)', language: 'en-US' });
    for (const { id } of voices) expect((await speak({ voice: id })).statusCode).toBe(200);
  });

  it('waits for an engine that has not said yet which there are', async () => {
    const { voices } = testServer.engine;
    testServer.engine.voices = [];
    testServer.engine.judge = () => {
      testServer.engine.voices = voices;
      return 0;
    };
    expect(
      (await testServer.app.inject('/v1/audio/voices')).json<{ voices: unknown[] }>().voices.length,
    ).toBeGreaterThan(2);
  });

  it('are models with an id', async () => {
    const { models } = (await testServer.app.inject('/v1/audio/models')).json<{ models: { id: string }[] }>();
    expect(models.map(({ id }) => id)).toEqual(['flite', 'tts-1', 'tts-1-hd', 'gpt-4o-mini-tts', 'qwen3-tts']);
  });
});
