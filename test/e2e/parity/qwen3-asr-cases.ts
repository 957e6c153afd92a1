/** What transformers made of the clips that Qwen3-ASR's tests read: fixtures/models/qwen3-asr/README.md. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { WrittenText } from '../../../engine/models/qwen3-asr/parts.ts';
import { answerIn, type PromptWriter } from '../../../engine/models/qwen3-asr/prompt.ts';
import type { Tensor } from '../../../engine/onnxruntime.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { makeClip } from './parakeet-clips.ts';

/** What transformers says of one clip. */
export interface Reading {
  readonly context: string;
  readonly language: string | null;
  /** Runs of a token as [token, count]. */
  readonly prompt: readonly (number | readonly [number, number])[];
  readonly draftIs: string;
  readonly draft: readonly number[];
  readonly agreed: number;
  readonly draftLogprobs: readonly number[];
  /** Behind the agreed ones, with the end token. */
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
}

/** The file with them. */
interface Cases {
  /** Every so many numbers are in the file. */
  readonly featureStep: number;
  readonly encodedStep: number;
  readonly maxNewTokens: number;
  readonly endTokens: readonly number[];
  readonly clips: readonly {
    readonly seconds: number;
    readonly frames: number;
    readonly tokens: number;
    /** [bands, frames of whole chunks] */
    readonly features: readonly number[];
    /** [tokens, hidden size] */
    readonly encoded: readonly number[];
    readonly readings: readonly Reading[];
  }[];
}

/** A folder of the fixtures, an absolute path. */
export const folderOf = (name: string) => packagePath('fixtures', 'models', 'qwen3-asr', name);
export const cases = JSON.parse(readFileSync(folderOf('cases.json'), 'utf8')) as Cases;
/** The clips. */
export const samplesOf = cases.clips.map(({ seconds }, index) => makeClip(index, seconds));
/** The greatest difference from every `step`th of `values`. */
export function differenceFrom(expected: readonly number[], values: Float32Array, step: number): number {
  expect(expected.length).toBe(Math.ceil(values.length / step));
  return Math.max(...expected.map((value, index) => Math.abs(value - (values[index * step] as number))));
}

/** What a decoder is asked for such a reading. */
export function requestOf(
  prompts: PromptWriter,
  audio: Tensor,
  { context, language, draft }: Pick<Reading, 'context' | 'language' | 'draft'>,
) {
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

/** What transformers says, with the agreed beginning of the draft and without the end token. */
export function saidOf({ draft, agreed, tokens }: Reading): number[] {
  const said = [...draft.slice(0, agreed), ...tokens];
  const end = said.findIndex((token) => cases.endTokens.includes(token));
  return end === -1 ? said : said.slice(0, end);
}

/** @param tolerance of the logarithms of probabilities */
export function expectWritten({ tokens, logprobs }: WrittenText, reading: Reading, tolerance: number): void {
  const expected = saidOf(reading);
  expect(tokens).toEqual(expected);
  expect(logprobs.length).toBe(expected.length);
  const numbers = [...reading.draftLogprobs, ...reading.logprobs].slice(0, expected.length);
  const off = numbers.map((value, at) => Math.abs(value - (logprobs[at] ?? Number.NaN)));
  expect(Math.max(0, ...off)).toBeLessThan(tolerance);
}
