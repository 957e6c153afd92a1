/** The official client against a real gateway with the real models. */
import { createReadStream } from 'node:fs';
import OpenAI, { APIError, AzureOpenAI } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { readSubtitles } from '../helpers/subtitles.ts';

let gateway: GatewayProcess;
let openai: OpenAI;

beforeAll(async () => {
  gateway = await startGateway({ API_KEYS: 'sdk-key', ENGINE_WORKERS: '1' });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'sdk-key', maxRetries: 0 });
}, 60_000);

afterAll(() => gateway.stop());

const fixture = (name: string) => createReadStream(packagePath('fixtures', 'audio', name));
const SHORT = 'Please leave a message after the tone.';
const model = 'whisper-1';

describe("OpenAI's client", () => {
  it.each(['short.wav', 'short.mp3', 'short.flac', 'short.ogg', 'short.opus'])('has %s transcribed', async (name) => {
    expect(await openai.audio.transcriptions.create({ file: fixture(name), model })).toMatchObject({ text: SHORT });
  });

  it('for Azure has it transcribed and spoken, with the paths and the key of Azure', async () => {
    const azure = new AzureOpenAI({
      endpoint: gateway.url,
      apiKey: 'sdk-key',
      apiVersion: '2024-10-21',
      maxRetries: 0,
    });
    expect(await azure.audio.transcriptions.create({ file: fixture('short.wav'), model })).toMatchObject({
      text: SHORT,
    });
    const spoken = await azure.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hello.' });
    expect((await spoken.arrayBuffer()).byteLength).toBeGreaterThan(1000);
  });

  it('gets text', async () => {
    expect(
      await openai.audio.transcriptions.create({ file: fixture('short.wav'), model, response_format: 'text' }),
    ).toBe(`${SHORT}\n`);
  });

  it.each(['srt', 'vtt'] as const)('gets %s that a parser of others reads', async (response_format) => {
    const body = await openai.audio.transcriptions.create({ file: fixture('demo-caller.wav'), model, response_format });
    const entries = readSubtitles(body);
    expect(entries).toHaveLength(4);
    expect(entries[3]?.text.replace('\n', ' ')).toMatch(/^No, that is all/);
  });

  it('gets words and segments with their times', async () => {
    const verbose = await openai.audio.transcriptions.create({
      file: fixture('short.wav'),
      model,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    expect(verbose.segments).toHaveLength(1);
    expect(verbose.words?.map(({ word }) => word)).toEqual(SHORT.split(' '));
    expect(verbose.duration).toBeCloseTo(2.68, 2);
  });

  it('reads a stream whose deltas make the text', async () => {
    const stream = await openai.audio.transcriptions.create({ file: fixture('demo-caller.wav'), model, stream: true });
    const deltas: string[] = [];
    let text = '';
    for await (const event of stream) {
      if (event.type === 'transcript.text.delta') deltas.push(event.delta);
      if (event.type === 'transcript.text.done') text = event.text;
    }
    expect(deltas).toHaveLength(4);
    expect(deltas.join('')).toBe(text);
  });

  it.each([
    ['a file that is no audio', { file: 'texts.json' }, 400, 'audio_unreadable', 'file'],
    [
      'a language that nobody understands here',
      { file: 'short.wav', language: 'de' },
      400,
      'unsupported_language',
      'language',
    ],
  ])('is told of %s as it expects', async (_what, { file, ...rest }, status, code, param) => {
    const failure = await openai.audio.transcriptions
      .create({ file: fixture(file), model, ...rest })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ status, code, param });
  });

  it('is told that nothing can translate', async () => {
    const failure = await openai.audio.translations
      .create({ file: fixture('short.wav'), model })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 400, code: 'unsupported_model', param: 'model' });
  });

  it('is told that its key is wrong', async () => {
    const stranger = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'wrong', maxRetries: 0 });
    const failure = await stranger.audio.transcriptions
      .create({ file: fixture('short.wav'), model })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });
});
