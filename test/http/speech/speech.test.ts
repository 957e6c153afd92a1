import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecogniserAbilities } from '../../../engine/recogniser-abilities.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { FAKE_VOICE } from '../../fakes/voices.ts';
import { startServer, type TestServer } from '../test-server.ts';

let testServer: TestServer;
beforeEach(async () => {
  testServer = await startServer();
});
afterEach(() => testServer.app.close());

/** A fake voice takes 20 ms for each character. */
const HELLO = 'Hello there.';
const HELLO_MS = 240;

function post(url: string, payload: object, headers: Record<string, string> = {}) {
  return testServer.app.inject({ method: 'POST', url, payload, headers });
}

function speak(fields: object) {
  return post('/v1/audio/speech', { model: 'tts-1', input: HELLO, voice: 'alloy', ...fields });
}

function wavMs(file: Buffer): { rateHz: number; durationMs: number } {
  const { rateHz, channels } = readWav(file);
  return { rateHz, durationMs: ((channels[0]?.length ?? 0) * 1000) / rateHz };
}

describe('POST /v1/audio/speech', () => {
  it('is MP3 unless said otherwise', async () => {
    const answer = await post('/v1/audio/speech', { model: 'tts-1', input: HELLO, voice: 'alloy' });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'audio/mpeg']);
    expect(answer.rawPayload.readUInt16BE(0) >> 5).toBe(0x7ff);
  });

  it.each([
    [{}, 16_000],
    [{ sample_rate: 8000 }, 8000],
    [{ sample_rate: 44_100 }, 44_100],
  ])('is WAV with %j, as long as the speech, at %i Hz', async (fields, rateHz) => {
    const answer = await speak({ response_format: 'wav', ...fields });
    expect(answer.headers['content-type']).toBe('audio/wav');
    expect(wavMs(answer.rawPayload)).toEqual({ rateHz, durationMs: HELLO_MS });
  });

  it.each([
    ['pcm', {}, 'audio/pcm', 48_000],
    ['pcm', { sample_rate: 16_000 }, 'audio/pcm', 32_000],
    ['mulaw', {}, 'audio/PCMU; rate=8000', 8000],
    ['alaw', { sample_rate: 8000 }, 'audio/PCMA; rate=8000', 8000],
  ])('is raw %s with %j', async (format, fields, contentType, bytesPerSecond) => {
    const answer = await speak({ response_format: format, ...fields });
    expect(answer.headers['content-type']).toBe(contentType);
    expect(answer.rawPayload.length).toBe((bytesPerSecond * HELLO_MS) / 1000);
  });

  it('tells proxies to hold nothing back', async () => {
    const { headers } = await speak({ response_format: 'pcm' });
    expect(headers).toMatchObject({
      'x-accel-buffering': 'no',
      'cache-control': 'no-store, no-transform',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    });
  });

  it('has each sentence made by itself, behind all calls', async () => {
    await speak({ input: 'One is here. Two is there. And here is three.' });
    expect(testServer.engine.spoken.map(({ text, urgency, speed }) => [text, urgency, speed])).toEqual([
      ['One is here.', 'batch', 1],
      ['Two is there.', 'batch', 1],
      ['And here is three.', 'batch', 1],
    ]);
  });

  it('does not make a sentence again that it has, until it is told to forget', async () => {
    await speak({});
    const first = await speak({ input: `${HELLO} And more.`, response_format: 'wav' });
    await speak({ input: HELLO, response_format: 'wav' });
    expect(testServer.engine.spoken.map(({ text }) => text)).toEqual([HELLO, 'And more.']);
    expect((await testServer.app.inject({ method: 'DELETE', url: '/v1/prompts' })).json()).toEqual({ cleared: 2 });
    const again = await speak({ input: `${HELLO} And more.`, response_format: 'wav' });
    expect(testServer.engine.spoken).toHaveLength(4);
    expect(again.rawPayload).toEqual(first.rawPayload);
  });

  it.each([
    [{ voice: 'alloy' }, 'slt'],
    [{ voice: 'rms' }, 'rms'],
    [{ voice: { id: 'slt' } }, 'slt'],
    [{ voice: undefined }, 'rms'],
    [{ voice: undefined, language: 'de-DE' }, 'anna'],
    [{ voice: undefined, language: 'German' }, 'anna'],
    [{ voice: undefined, language: 'English' }, 'rms'],
    [{ voice: undefined, language: 'Auto' }, 'rms'],
    [{ voice: undefined, language: 'auto' }, 'rms'],
    [{ voice: 'slt', language: 'de-DE' }, 'slt'],
  ])('takes %j for the voice %s', async (fields, voice) => {
    testServer.engine.voices = [...testServer.engine.voices, { ...FAKE_VOICE, name: 'anna', language: 'de-DE' }];
    expect((await speak(fields)).statusCode).toBe(200);
    expect(testServer.engine.spoken.map((request) => request.voice)).toEqual([voice]);
  });

  it('writes numbers out, unless told not to', async () => {
    await speak({ input: 'It costs $5.' });
    await speak({ input: 'It costs $5.', text_normalize: false });
    expect(testServer.engine.spoken.map(({ text }) => text)).toEqual(['It costs five dollars.', 'It costs $5.']);
  });

  it('speaks faster or slower', async () => {
    expect(wavMs((await speak({ response_format: 'wav', speed: 2 })).rawPayload).durationMs).toBe(HELLO_MS / 2);
  });

  it('ignores what it does not know, and instructions', async () => {
    expect((await speak({ instructions: 'Whisper.', temperature: 0.9, top_p: 1 })).statusCode).toBe(200);
  });

  it('skips sentences in which there is nothing to speak', async () => {
    const answer = await speak({ input: `${HELLO} — … !!! ${HELLO}`, response_format: 'wav' });
    expect(wavMs(answer.rawPayload).durationMs).toBe(2 * HELLO_MS);
  });

  it.each([
    [{ model: 'gpt-5' }, 404, 'model_not_found', 'model', /"gpt-5", expected one of flite, tts-1/],
    [{ input: '' }, 400, 'invalid_request', 'input', /input/],
    [{ input: 'a'.repeat(4097) }, 400, 'invalid_request', 'input', /4096/],
    [{ input: '🙂 … !' }, 400, 'invalid_request', 'input', /nothing in it that can be spoken/],
    [
      { voice: 'nobody' },
      400,
      'invalid_request',
      'voice',
      /"nobody", expected one of rms, slt, OpenAI's alloy.*Qwen3-TTS's vivian/,
    ],
    [{ voice: { id: 7 } }, 400, 'invalid_request', 'voice', /voice/],
    [{ speed: 5 }, 400, 'invalid_request', 'speed', /speed/],
    [{ sample_rate: 9999 }, 400, 'invalid_request', 'sample_rate', /sample_rate/],
    [
      { response_format: 'mulaw', sample_rate: 16_000 },
      400,
      'invalid_request',
      'sample_rate',
      /got 16000, expected 8000/,
    ],
    [{ response_format: 'midi' }, 400, 'invalid_request', 'response_format', /response_format: got "midi"/],
    [
      { response_format: 'opus' },
      400,
      'unsupported_format',
      'response_format',
      /needs ffmpeg.*expected one of mp3, wav, pcm, mulaw, alaw/,
    ],
    [{ stream_format: 'smoke' }, 400, 'invalid_request', 'stream_format', /stream_format/],
  ])('refuses %j', async (fields, status, code, param, message) => {
    const answer = await speak(fields);
    const { error } = answer.json<{ error: { message: string; param: string | null; code: string } }>();
    expect([answer.statusCode, error.code, error.param]).toEqual([status, code, param]);
    expect(error.message).toMatch(message);
  });

  it('takes as long a text as SPEECH_INPUT_MAX_CHARS allows', async () => {
    await testServer.app.close();
    testServer = await startServer({ SPEECH_INPUT_MAX_CHARS: '100000' });
    testServer.engine.utter = () => new Int16Array(320);
    const answer = await speak({ input: 'This one here is a sentence. '.repeat(3400), response_format: 'mulaw' });
    expect([answer.statusCode, answer.rawPayload.length]).toEqual([200, 3400 * 160]);
  });

  it.each([
    ['unavailable', 503, 'engine_unavailable'],
    ['model_failed', 500, 'internal'],
  ] as const)('says that speech is %s', async (failure, status, code) => {
    testServer.engine.failure = failure;
    const answer = await speak({});
    expect([answer.statusCode, answer.json().error.code]).toEqual([status, code]);
  });

  it('asks for a key where there are keys', async () => {
    await testServer.app.close();
    testServer = await startServer({ API_KEYS: 'secret' });
    expect((await speak({})).json().error.code).toBe('api_key_missing');
    const headers = { authorization: 'Bearer secret' };
    expect((await post('/v1/audio/speech', { input: HELLO }, headers)).statusCode).toBe(200);
    expect((await testServer.app.inject({ method: 'POST', url: '/cache/clear' })).statusCode).toBe(401);
  });
});

/** The data of Server-Sent Events. */
function eventsOf(body: string): string[] {
  return body
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));
}

describe('stream_format sse', () => {
  it('has the same speech in deltas, and says when it is done', async () => {
    const input = 'One is here. Two is there.';
    const whole = await speak({ input, response_format: 'pcm' });
    const answer = await speak({ input, response_format: 'pcm', stream_format: 'sse' });
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const events = eventsOf(answer.body).map((data) => JSON.parse(data) as { type: string; audio?: string });
    expect(events.map(({ type }) => type)).toEqual(['speech.audio.delta', 'speech.audio.delta', 'speech.audio.done']);
    const sound = Buffer.concat(events.map(({ audio = '' }) => Buffer.from(audio, 'base64')));
    expect(sound).toEqual(whole.rawPayload);
  });

  it('ends with an error when speech fails in the middle', async () => {
    testServer.engine.utter = (request) => {
      if (request.text.startsWith('Two')) throw new Error('it broke');
      return new Int16Array(320);
    };
    const answer = await speak({ input: 'One is here. Two is there.', stream_format: 'sse', response_format: 'pcm' });
    const events = eventsOf(answer.body).map((data) => JSON.parse(data) as { type?: string; error?: { code: string } });
    expect(events.map(({ type, error }) => type ?? error?.code)).toEqual(['speech.audio.delta', 'internal']);
  });
});

describe("the Qwen3-TTS server's paths", () => {
  const input = 'One is here. Two is there.';

  it('stream samples in Server-Sent Events, one for each sentence', async () => {
    const answer = await post('/v1/audio/speech/stream', {
      input,
      voice: 'alloy',
      response_format: 'mp3',
      temperature: 0.5,
    });
    const events = eventsOf(answer.body);
    expect(events.at(-1)).toBe('[DONE]');
    const sentences = events.slice(0, -1).map((data) => Buffer.from(data, 'base64').length / 48);
    expect(sentences).toEqual(['One is here.', 'Two is there.'].map(({ length }) => 20 * length));
  });

  it('stream raw samples and say what they are', async () => {
    const answer = await post('/v1/audio/speech/stream/pcm', { input, sample_rate: 8000 });
    expect(answer.headers).toMatchObject({
      'x-pcm-sample-rate': '8000',
      'x-pcm-bit-depth': '16',
      'x-pcm-channels': '1',
    });
    expect(answer.rawPayload.length).toBe(20 * (input.length - 1) * 16);
  });

  it('clear what is kept', async () => {
    await post('/v1/audio/speech/stream/pcm', { input });
    expect((await post('/cache/clear', {})).json()).toEqual({ audio_cleared: 2, voice_cleared: 0 });
    expect((await post('/cache/clear', {})).json()).toEqual({ audio_cleared: 0, voice_cleared: 0 });
  });
});

describe('GET /v1/models', () => {
  it('lists what there is, in a shape that clients know', async () => {
    const { object, data } = (await testServer.app.inject('/v1/models')).json<{
      object: string;
      data: { id: string }[];
    }>();
    expect([object, data.map(({ id }) => id)]).toEqual([
      'list',
      [
        ...['moonshine-tiny', 'whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'qwen3-asr'],
        ...['flite', 'tts-1', 'tts-1-hd', 'gpt-4o-mini-tts', 'qwen3-tts'],
      ],
    ]);
    expect(data[0]).toEqual({
      id: 'moonshine-tiny',
      object: 'model',
      created: Date.UTC(2026, 0, 1) / 1000,
      owned_by: 'trunkline',
      reads: 'everything',
    });
  });

  it("has the recognisers and voices beside them as Deepgram's clients read them", async () => {
    const { stt, tts } = (await testServer.app.inject('/v1/models')).json();
    expect(stt).toMatchObject([{ name: 'moonshine-tiny', canonical_name: 'moonshine-tiny', streaming: true }]);
    expect(tts.length).toBeGreaterThan(0);
    expect(tts[0]).toMatchObject({ architecture: 'trunkline', languages: [expect.any(String)] });
    expect(tts[0].uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('says of recognisers what they read, and once they are loaded what they can', async () => {
    await testServer.app.close();
    testServer = await startServer({ ASR_FINAL_MODEL: '/models/parakeet-v3' });
    const abilities = testServer.engine.abilities as RecogniserAbilities;
    const final = { name: 'parakeet-v3-1', languages: ['en', 'de'], abilities, licence: 'CC-BY-4.0' };
    testServer.health.recognisers = { live: null, final };
    const show = async (id: string) => (await testServer.app.inject(`/v1/models/${id}`)).json();
    expect(await show('moonshine-tiny')).toMatchObject({ id: 'moonshine-tiny', reads: 'partials' });
    expect(await show('parakeet-v3')).toMatchObject({
      reads: 'finals',
      languages: ['en', 'de'],
      abilities: ['drafts', 'wordTimes'],
      licence: 'CC-BY-4.0',
    });
    expect(await show('whisper-1')).not.toHaveProperty('reads');
    expect((await testServer.app.inject('/health')).json()).toMatchObject({
      model_id: 'tone',
      final_model_id: 'parakeet-v3-1',
    });
  });

  it('shows one, and says that another is not there', async () => {
    expect((await testServer.app.inject('/v1/models/flite')).json()).toMatchObject({ id: 'flite', object: 'model' });
    expect((await testServer.app.inject('/v1/models/gpt-4o-mini-tts-2025-12-15')).statusCode).toBe(200);
    const missing = await testServer.app.inject('/v1/models/whisper-9');
    expect([missing.statusCode, missing.json().error.code]).toEqual([404, 'model_not_found']);
  });
});
