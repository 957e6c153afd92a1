import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Clip, QwenFeatures } from '../../../engine/models/qwen3-asr/features.ts';
import type { TextRequest, WrittenText } from '../../../engine/models/qwen3-asr/parts.ts';
import { answerIn } from '../../../engine/models/qwen3-asr/prompt.ts';
import { findPublishedLayout } from '../../../engine/models/qwen3-asr/published-layout.ts';
import { openPublished, type PublishedParts } from '../../../engine/models/qwen3-asr/published-load.ts';
import { namesInFolder } from '../../../engine/models/folder-names.ts';
import { runThrough } from '../../../engine/scheduler.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
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

async function open(name: string, graphs: 'rewritten' | 'shipped' = 'rewritten'): Promise<PublishedParts> {
  const layout = findPublishedLayout(namesInFolder(folderOf(name)));
  if (layout === null) throw new Error(`${name} is in no published layout`);
  return openPublished(folderOf(name), layout, { device: { provider: 'cpu' }, threads: 1, graphs });
}

function clipsOf({ config }: PublishedParts): Clip[] {
  const features = new QwenFeatures(config);
  return cases.clips.map(({ seconds }, index) => features.compute(makeClip(index, seconds)));
}

/** The greatest difference from every `step`th of `values`. */
function differenceFrom(expected: readonly number[], values: Float32Array, step: number): number {
  expect(expected.length).toBe(Math.ceil(values.length / step));
  return Math.max(...expected.map((value, index) => Math.abs(value - (values[index * step] as number))));
}

async function requestOf(parts: PublishedParts, clip: Clip, { context, language, draft }: Reading): Promise<TextRequest> {
  const answer = language === null ? [] : answerIn(language);
  return {
    prompt: parts.prompts.write({ context, hotWords: [], audioTokens: clip.tokens, answer }),
    audio: await runThrough(parts.encoder.encode(clip)),
    draft: draft.slice(0, cases.maxNewTokens - 1),
    maxTokens: cases.maxNewTokens,
    newTokensMax: cases.maxNewTokens,
    endTokens: cases.endTokens,
  };
}

function expectSaid({ tokens, logprobs }: WrittenText, reading: Reading, tolerance: number): void {
  const said = [...reading.draft.slice(0, reading.agreed), ...reading.tokens];
  const end = said.findIndex((token) => cases.endTokens.includes(token));
  const expected = end === -1 ? said : said.slice(0, end);
  expect(tokens).toEqual(expected);
  const numbers = [...reading.draftLogprobs, ...reading.logprobs].slice(0, expected.length);
  expect(Math.max(0, ...numbers.map((value, at) => Math.abs(value - (logprobs[at] ?? Number.NaN))))).toBeLessThan(tolerance);
}

describe.each([
  // Its embeddings have 16 bits.
  ['split', 0.02],
  ['static', 1e-3],
] as const)('Qwen3-ASR in the published layout of the folder %s', (name, tolerance) => {
  it('hears what transformers hears, across the edge of 8 s too', async () => {
    const parts = await open(name);
    for (const [index, clip] of clipsOf(parts).entries()) {
      const { tokens, encoded } = cases.clips[index] as Cases['clips'][number];
      const audio = await runThrough(parts.encoder.encode(clip));
      expect(audio.dims).toEqual([tokens, parts.config.hiddenSize]);
      expect(differenceFrom(encoded, audio.data as Float32Array, cases.encodedStep)).toBeLessThan(1e-4);
    }
  });

  it.each(['rewritten', 'shipped'] as const)('writes with %s graphs what transformers writes, whatever the draft', async (graphs) => {
    const parts = await open(name, graphs);
    const kinds = new Set<string>();
    for (const [index, clip] of clipsOf(parts).entries())
      for (const reading of cases.clips[index]?.readings ?? []) {
        kinds.add(`${reading.draftIs} ${reading.language}`);
        expectSaid(await runThrough(parts.decoder.write(await requestOf(parts, clip, reading))), reading, tolerance);
      }
    expect(kinds.size).toBeGreaterThanOrEqual(5);
  });

  it('lets urgent work in between two runs', async () => {
    const parts = await open(name);
    const [clip] = clipsOf(parts) as [Clip];
    const reading = cases.clips[0]?.readings[0] as Reading;
    const request = await requestOf(parts, clip, reading);
    const steps = parts.decoder.write(request);
    let runs = 1;
    while (!(await steps.next()).done) runs++;
    expect(runs).toBe(reading.tokens.length);
  });
});
