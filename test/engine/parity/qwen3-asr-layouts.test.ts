import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { namesInFolder } from '../../../engine/models/folder-names.ts';
import { loadModels } from '../../../engine/models/load-models.ts';
import { MODEL_TABLE } from '../../../engine/models/model-table.ts';
import { QwenFeatures } from '../../../engine/models/qwen3-asr/features.ts';
import type { WrittenText } from '../../../engine/models/qwen3-asr/parts.ts';
import { answerIn } from '../../../engine/models/qwen3-asr/prompt.ts';
import { findPublishedLayout } from '../../../engine/models/qwen3-asr/published-layout.ts';
import { openPublished, type PublishedParts } from '../../../engine/models/qwen3-asr/published-load.ts';
import { StaticCacheDecoder } from '../../../engine/models/qwen3-asr/static-cache-decoder.ts';
import { openSession } from '../../../engine/onnx.ts';
import type { Tensor } from '../../../engine/onnxruntime.ts';
import { runThrough } from '../../../engine/scheduler.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { TONE } from '../settings.ts';
import { makeClip } from './parakeet-clips.ts';

/** What transformers made of the clips: fixtures/models/qwen3-asr/README.md. */
interface Cases {
  readonly encodedStep: number;
  readonly maxNewTokens: number;
  readonly endTokens: readonly number[];
  readonly clips: readonly {
    readonly seconds: number;
    readonly tokens: number;
    readonly encoded: readonly number[];
    readonly readings: readonly Reading[];
  }[];
}
interface Reading {
  readonly context: string;
  readonly language: string | null;
  readonly draftIs: string;
  readonly draft: readonly number[];
  readonly agreed: number;
  readonly draftLogprobs: readonly number[];
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
}

const folderOf = (name: string) => packagePath('fixtures', 'models', 'qwen3-asr', name);
const cases = JSON.parse(readFileSync(folderOf('cases.json'), 'utf8')) as Cases;
const samplesOf = cases.clips.map(({ seconds }, index) => makeClip(index, seconds));
const session = { device: { provider: 'cpu' }, threads: 1 } as const;

async function open(name: string, graphs: 'rewritten' | 'shipped'): Promise<PublishedParts> {
  const layout = findPublishedLayout(namesInFolder(folderOf(name)));
  if (layout === null) throw new Error(`${name} is in no published layout`);
  return openPublished(folderOf(name), layout, { ...session, graphs });
}

/** The parts of a folder, and what they hear of each clip. */
async function hear(name: string) {
  const parts = await open(name, 'rewritten');
  const features = new QwenFeatures(parts.config);
  const audio: Tensor[] = [];
  for (const samples of samplesOf) audio.push(await runThrough(parts.encoder.encode(features.compute(samples))));
  return { parts, audio };
}

/** The greatest difference from every `step`th of `values`. */
function differenceFrom(expected: readonly number[], values: Float32Array, step: number): number {
  expect(expected.length).toBe(Math.ceil(values.length / step));
  return Math.max(...expected.map((value, index) => Math.abs(value - (values[index * step] as number))));
}

function requestOf({ prompts }: PublishedParts, audio: Tensor, { context, language, draft }: Reading) {
  const answer = language === null ? [] : answerIn(language);
  return {
    prompt: prompts.write({ context, hotWords: [], audioTokens: audio.dims[0] ?? 0, answer }),
    audio,
    draft: draft.slice(0, cases.maxNewTokens - 1),
    maxTokens: cases.maxNewTokens,
    newTokensMax: cases.maxNewTokens,
    endTokens: cases.endTokens,
  };
}

/** What transformers says, without the end token. */
function saidOf({ draft, agreed, tokens }: Reading): number[] {
  const said = [...draft.slice(0, agreed), ...tokens];
  const end = said.findIndex((token) => cases.endTokens.includes(token));
  return end === -1 ? said : said.slice(0, end);
}

function expectSaid({ tokens, logprobs }: WrittenText, reading: Reading, tolerance: number): void {
  const expected = saidOf(reading);
  expect(tokens).toEqual(expected);
  const numbers = [...reading.draftLogprobs, ...reading.logprobs].slice(0, expected.length);
  const off = numbers.map((value, at) => Math.abs(value - (logprobs[at] ?? Number.NaN)));
  expect(Math.max(0, ...off)).toBeLessThan(tolerance);
}

describe.each([
  // Its embeddings have 16 bits, those of transformers 32.
  ['split', 0.02],
  ['static', 1e-3],
] as const)('Qwen3-ASR in the published layout of the folder %s', (name, tolerance) => {
  const heard = hear(name);

  it('hears what transformers hears, across the edge of 8 s too', async () => {
    const { parts, audio } = await heard;
    for (const [index, { tokens, encoded }] of cases.clips.entries()) {
      expect(audio[index]?.dims).toEqual([tokens, parts.config.hiddenSize]);
      expect(differenceFrom(encoded, audio[index]?.data as Float32Array, cases.encodedStep)).toBeLessThan(1e-4);
    }
  });

  it.each(['rewritten', 'shipped'] as const)('writes by %s graphs what transformers writes', async (graphs) => {
    const { audio } = await heard;
    const parts = await open(name, graphs);
    expect(parts.warning).toBeNull();
    const kinds = new Set<string>();
    for (const [index, { readings }] of cases.clips.entries())
      for (const reading of readings) {
        kinds.add(`${reading.draftIs} ${reading.language} ${reading.context}`);
        const request = requestOf(parts, audio[index] as Tensor, reading);
        expectSaid(await runThrough(parts.decoder.write(request)), reading, tolerance);
      }
    expect(kinds.size).toBeGreaterThanOrEqual(6);
  });

  it('lets urgent work in between its runs', async () => {
    const { parts, audio } = await heard;
    const [{ readings: [reading] = [] } = { readings: [] }] = cases.clips;
    const steps = parts.decoder.write(requestOf(parts, audio[0] as Tensor, reading as Reading));
    let runs = 1;
    while (!(await steps.next()).done) runs++;
    expect(runs).toBe(reading?.tokens.length);
  });

  it('is read as a folder of ours, by its name', async () => {
    const { asr, languages, abilities, warning } = await loadModels(
      MODEL_TABLE,
      { ...TONE, asrModel: folderOf(name) },
      () => undefined,
    );
    expect(asr).toMatchObject({ name, provider: 'cpu', vocabularySize: 318 });
    expect(languages.length).toBe(30);
    expect(abilities).toMatchObject({ drafts: true, languageGuess: true, context: true });
    expect(warning).toBeNull();
    await asr.warmUp(samplesOf[4] as Int16Array);
    const [index, reading] = [3, cases.clips[3]?.readings[0] as Reading];
    const { tokens } = await runThrough(asr.transcribe(samplesOf[index] as Int16Array, []));
    const expected = saidOf(reading);
    expect(tokens.length).toBeGreaterThan(3);
    expect(tokens).toEqual(expected.slice(0, tokens.length));
  });
});

describe('a cache with an end', () => {
  const room = 40;

  async function limited() {
    const { parts, audio } = await hear('static');
    const opened = await openSession(`${folderOf('static')}/decoder.onnx`, session);
    return { parts, audio: audio[1] as Tensor, decoder: new StaticCacheDecoder(opened, parts.config, room) };
  }

  it('ends a text that does not fit in, whatever the draft', async () => {
    const { parts, audio, decoder } = await limited();
    const reading = cases.clips[1]?.readings[0] as Reading;
    const request = { ...requestOf(parts, audio, reading), endTokens: [-1], maxTokens: 100, newTokensMax: 100 };
    const { tokens } = await runThrough(decoder.write(request));
    expect(tokens.length).toBe(room - request.prompt.length);
    expect(tokens.slice(0, saidOf(reading).length)).toEqual(saidOf(reading).slice(0, tokens.length));
    const again = await runThrough(decoder.write({ ...request, draft: [...tokens, ...tokens] }));
    expect(again.tokens).toEqual(tokens);
  });

  it('refuses a prompt that does not fit in', async () => {
    const { parts, audio, decoder } = await limited();
    const request = requestOf(parts, audio, { ...(cases.clips[1]?.readings[0] as Reading), context: 'x'.repeat(99) });
    expect(() => decoder.write(request)).toThrow(/got a prompt of \d+ tokens, expected less than 40/);
  });
});
