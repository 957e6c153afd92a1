import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ENGINE_RATE_HZ } from '../../../engine/contract.ts';
import { loadModels, type Models } from '../../../engine/models/load-models.ts';
import type { ReadingOptions, Recognition } from '../../../engine/models/model.ts';
import { MODEL_TABLE } from '../../../engine/models/model-table.ts';
import { openCutEncoder, openWholeEncoder } from '../../../engine/models/parakeet/encoder.ts';
import { ParakeetFeatures } from '../../../engine/models/parakeet/features.ts';
import { readParakeetFolder } from '../../../engine/models/parakeet/folder.ts';
import { writeFloats } from '../../../engine/models/pcm.ts';
import { runThrough } from '../../../engine/scheduler.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { TONE } from '../../engine/settings.ts';
import { makeClip } from './parakeet-clips.ts';

/** What transformers made of the clips: fixtures/models/parakeet-tdt/README.md. */
interface Cases {
  /** Every so many numbers are in the file. */
  readonly featureStep: number;
  readonly encodedStep: number;
  readonly clips: readonly {
    readonly seconds: number;
    readonly tokens: readonly number[];
    /** The frame of 80 ms that each token was said at. */
    readonly frames: readonly number[];
    readonly logprobs: readonly number[];
    /** [bands, frames] */
    readonly features: readonly number[];
    /** [width, frames] */
    readonly encoded: readonly number[];
  }[];
}

const folderOf = (name: string) => packagePath('fixtures', 'models', 'parakeet-tdt', name);
const { featureStep, encodedStep, clips } = JSON.parse(readFileSync(folderOf('cases.json'), 'utf8')) as Cases;
const heard = clips.map(({ seconds }, index) => makeClip(index, seconds));
const bands = new ParakeetFeatures(128);

function load(folder: string): Promise<Models> {
  return loadModels(MODEL_TABLE, { ...TONE, asrModel: folder }, () => undefined);
}

function read({ asr }: Models, samples: Int16Array, options: ReadingOptions = {}): Promise<Recognition> {
  return runThrough(asr.transcribe(samples, [], options));
}

function featuresOf(samples: Int16Array): Float32Array {
  const waveform = new Float32Array(samples.length);
  writeFloats(samples, waveform, 0);
  return bands.compute(waveform);
}

/** The greatest difference from every `step`th of `values`. */
function differenceFrom(expected: readonly number[], values: Float32Array, step: number): number {
  expect(expected.length).toBe(Math.ceil(values.length / step));
  return Math.max(...expected.map((value, index) => Math.abs(value - (values[index * step] as number))));
}

describe('the features of Parakeet', () => {
  it('are those of transformers', () => {
    const differences = clips.map(({ features }, index) =>
      differenceFrom(features, featuresOf(heard[index] as Int16Array), featureStep),
    );
    expect(differences.length).toBeGreaterThanOrEqual(20);
    expect(Math.max(...differences)).toBeLessThan(1e-4);
  });
});

describe("Parakeet's encoder", () => {
  const options = { device: { provider: 'cpu' }, threads: 1 } as const;
  const { encoder } = readParakeetFolder(folderOf('float'));

  it.each([
    ['as a whole', () => openWholeEncoder(encoder, options)],
    ['in one part', () => openCutEncoder(encoder, options, 1)],
    ['in three parts', () => openCutEncoder(encoder, options, 3)],
    ['in eight parts', () => openCutEncoder(encoder, options, 8)],
  ])('gives %s what transformers gives', async (_, open) => {
    const opened = await open();
    for (const [index, { encoded, frames }] of clips.entries()) {
      const speech = await runThrough(opened.encode(featuresOf(heard[index] as Int16Array), 128));
      expect(speech.frames).toBeGreaterThan(frames.at(-1) ?? 0);
      expect(differenceFrom(encoded, speech.values, encodedStep)).toBeLessThan(1e-3);
    }
  });

  it('lets urgent work in between its parts', async () => {
    const cut = await openCutEncoder(encoder, options, 3);
    const steps = cut.encode(featuresOf(heard[0] as Int16Array), 128);
    let runs = 1;
    while (!(await steps.next()).done) runs++;
    expect(runs).toBe(3);
  });
});

describe.each(['float', 'sherpa'])('Parakeet in the folder %s', (folder) => {
  it('says what transformers says, of as many lengths as calls have', async () => {
    const models = await load(folderOf(folder));
    for (const [index, { tokens, frames, logprobs }] of clips.entries()) {
      const said = await read(models, heard[index] as Int16Array, { timed: true });
      expect(said.tokens).toEqual(tokens);
      const off = logprobs.map((logprob, at) => Math.abs(logprob - (said.logprobs?.[at] ?? Number.NaN)));
      expect(Math.max(0, ...off)).toBeLessThan(1e-3);
      const starts = frames.map((frame) => 80 * frame);
      for (const { startMs } of said.words ?? []) expect(starts).toContain(startMs);
    }
    expect(new Set(clips.flatMap(({ tokens }) => tokens)).size).toBeGreaterThanOrEqual(8);
  });

  it('is known by its files, and by what they say of it', async () => {
    const models = await load(folderOf(folder));
    expect(models.asr.name).toBe('parakeet-tdt-1');
    expect(models.asr.vocabularySize).toBe(61);
    expect(models.abilities).toMatchObject({ drafts: false, wordTimes: true, hotWords: true, languageGuess: false });
  });
});

describe('Parakeet', () => {
  it('runs with 8-bit weights', async () => {
    const models = await load(folderOf('int8'));
    const said = await Promise.all(heard.slice(0, 16).map((samples) => read(models, samples)));
    expect(new Set(said.flatMap(({ tokens }) => tokens)).size).toBeGreaterThanOrEqual(8);
  });

  it('times words in order and within the speech', async () => {
    const models = await load(folderOf('float'));
    const samples = heard.at(-2) as Int16Array;
    const { words = [], text } = await read(models, samples, { timed: true });
    expect(words.length).toBeGreaterThan(10);
    expect(words.map((word) => word.text).join(' ')).toBe(text);
    for (const [index, { startMs, endMs, probability }] of words.entries()) {
      expect(endMs).toBeGreaterThan(startMs);
      expect(endMs).toBeLessThanOrEqual((1000 * samples.length) / ENGINE_RATE_HZ);
      expect(startMs).toBeGreaterThanOrEqual(words[index - 1]?.startMs ?? 0);
      expect(probability).toBeGreaterThan(0);
    }
  });

  it('writes its tokens, with a space before a word', async () => {
    const models = await load(folderOf('float'));
    const { pieces = [], tokens, text } = await read(models, heard[10] as Int16Array, { spelled: true });
    expect(pieces.length).toBe(tokens.length);
    expect(Buffer.concat(pieces).toString().trim()).toBe(text);
  });

  it('says nothing of nothing, and little of an instant', async () => {
    const models = await load(folderOf('float'));
    expect(await read(models, new Int16Array(0), { timed: true, spelled: true })).toEqual({
      text: '',
      tokens: [],
      logprobs: new Float32Array(0),
      looped: false,
      pieces: [],
      words: [],
    });
    expect((await read(models, new Int16Array(1))).tokens.length).toBeLessThan(10);
    const silence = await read(models, new Int16Array(32_000));
    expect(silence.logprobs?.every(Number.isFinite)).toBe(true);
  });

  it('hears what is longer than its positions reach in stretches', async () => {
    const models = await load(folderOf('float'));
    const { words = [] } = await read(models, makeClip(3, 80), { timed: true });
    expect(words.at(-1)?.startMs).toBeGreaterThan(70_000);
  });

  it('keeps nothing: a draft and readings before change nothing', async () => {
    const models = await load(folderOf('float'));
    const first = await read(models, heard[8] as Int16Array);
    await read(models, heard[9] as Int16Array);
    expect(await runThrough(models.asr.transcribe(heard[8] as Int16Array, [1, 2, 3]))).toEqual(first);
  });

  it.each([
    [10, 'cjj', 'cjjqq c j'],
    [13, 'cdd', 'cdd aqq a a aq cj'],
    [15, 'jde', 'ahhp acd j jde m jdeq'],
  ])('prefers a hot word where it is likely: clip %i, %s', async (index, word, text) => {
    const models = await load(folderOf('float'));
    const samples = heard[index] as Int16Array;
    expect((await read(models, samples)).text).not.toContain(word);
    const said = await read(models, samples, { hotWords: [word], timed: true });
    expect(said.text).toBe(text);
    expect(said.words?.map((each) => each.text).join(' ')).toBe(text);
    expect(said.logprobs?.length).toBe(said.tokens.length);
  });

  it('says what it says without hot words where none of them is completed', async () => {
    const models = await load(folderOf('float'));
    const words = Array.from({ length: 40 }, (_, index) => `${'abcdefghijklmnopqr'[index % 18]}${index % 7}qpo`);
    for (const index of [8, 10, 13, 15]) {
      const samples = heard[index] as Int16Array;
      expect(await read(models, samples, { hotWords: [...words, 'aqr', 'kqp'] })).toEqual(await read(models, samples));
    }
  });
});
