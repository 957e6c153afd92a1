/** OpenAI's own SDK against a whole gateway that speaks with flite: what its users write is what is tested. */
import { spawnSync } from 'node:child_process';
import { createParser } from 'eventsource-parser';
import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pcm16ToSamples } from '../../../src/audio/pcm.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { type Gateway, runGateway } from '../../../src/gateway/main.ts';

const ENVIRONMENT = {
  PORT: '0',
  LOG_LEVEL: 'silent',
  ENGINE_WORKERS: '1',
  ASR_MODEL: 'tone',
  VAD_MODEL: 'tone',
  MODELS_DIR: 'none',
  DATA_DIR: 'none',
};
const INPUT = 'Your appointment is at nine. Please bring your card.';
/** What flite takes for it. */
const SECONDS_MIN = 2;
const SECONDS_MAX = 6;

let gateway: Gateway;
let openai: OpenAI;
beforeAll(async () => {
  gateway = await runGateway(readSettings(ENVIRONMENT));
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'none', maxRetries: 0 });
}, 60_000);
afterAll(() => gateway.close());

type Fields = Partial<Parameters<OpenAI['audio']['speech']['create']>[0]>;

async function speak(fields: Fields): Promise<{ type: string | null; bytes: Buffer }> {
  const answer = await openai.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: INPUT, ...fields });
  return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) };
}

/** How loud it is, as a root mean square in 16-bit steps. */
function loudness(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

function expectSpeech(samples: Int16Array, rateHz: number): void {
  expect(samples.length / rateHz).toBeGreaterThan(SECONDS_MIN);
  expect(samples.length / rateHz).toBeLessThan(SECONDS_MAX);
  expect(loudness(samples)).toBeGreaterThan(500);
}

describe("OpenAI's SDK", () => {
  it('gets MP3 by default', async () => {
    const { type, bytes } = await speak({});
    expect([type, bytes.readUInt16BE(0) >> 5]).toEqual(['audio/mpeg', 0x7ff]);
    expect(bytes.length / 8000).toBeGreaterThan(SECONDS_MIN);
  });

  it('gets WAV that can be played', async () => {
    const { type, bytes } = await speak({ response_format: 'wav' });
    const { rateHz, channels } = readWav(bytes);
    expect(type).toBe('audio/wav');
    expectSpeech(channels[0] ?? new Int16Array(0), rateHz);
  });

  it('gets samples at 24 kHz, half as many at twice the speed', async () => {
    const { bytes } = await speak({ response_format: 'pcm' });
    expectSpeech(pcm16ToSamples(bytes), 24_000);
    const fast = await speak({ response_format: 'pcm', speed: 2 });
    expect(fast.bytes.length / bytes.length).toBeCloseTo(0.5, 1);
  });

  const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;

  it.each([
    ['flac', 'fLaC'],
    ['opus', 'OggS'],
    ['aac', '\xff'],
  ] as const)('gets %s where ffmpeg is installed, and otherwise a clear answer', async (format, magic) => {
    const asked = speak({ response_format: format });
    if (hasFfmpeg) expect((await asked).bytes.toString('latin1', 0, magic.length)).toBe(magic);
    else
      await expect(asked).rejects.toMatchObject({ status: 400, code: 'unsupported_format', param: 'response_format' });
  });

  it('reads speech as it comes', async () => {
    const answer = await openai.audio.speech.create({
      model: 'tts-1',
      voice: { id: 'kal' },
      input: INPUT,
      response_format: 'pcm',
    });
    let chunks = 0;
    let bytes = 0;
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      chunks++;
      bytes += chunk.length;
    }
    expect(chunks).toBeGreaterThan(1);
    expect(bytes / 48_000).toBeGreaterThan(SECONDS_MIN);
  });

  it('reads events', async () => {
    const asked = {
      model: 'gpt-4o-mini-tts',
      voice: 'nova',
      input: INPUT,
      stream_format: 'sse',
      response_format: 'pcm',
    } as const;
    const answer = await openai.audio.speech.create(asked);
    const events: { type: string; audio?: string }[] = [];
    const parser = createParser({
      onEvent: ({ data }) => events.push(JSON.parse(data) as { type: string; audio?: string }),
    });
    parser.feed(await answer.text());
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done' });
    const sound = events.flatMap(({ audio }) => (audio === undefined ? [] : [Buffer.from(audio, 'base64')]));
    expectSpeech(pcm16ToSamples(Buffer.concat(sound)), 24_000);
  });

  it('lists the models and knows one', async () => {
    const ids: string[] = [];
    for await (const { id } of openai.models.list()) ids.push(id);
    expect(ids).toContain('flite');
    expect((await openai.models.retrieve('tts-1')).owned_by).toBe('trunkline');
  });

  it('throws its own errors', async () => {
    await expect(speak({ model: 'gpt-5' })).rejects.toThrow(NotFoundError);
    await expect(speak({ voice: 'nobody' })).rejects.toThrow(BadRequestError);
    await expect(speak({ input: 'a'.repeat(5000) })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
      type: 'invalid_request_error',
    });
    await expect(openai.models.retrieve('gpt-5')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
    await expect(speak({ voice: 'nobody' })).rejects.toMatchObject({ param: 'voice', requestID: expect.any(String) });
  });
});
