import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadModels, type Models } from '../../../engine/models/load-models.ts';
import { LogMel } from '../../../engine/models/log-mel.ts';
import type { ReadingOptions, Recognition } from '../../../engine/models/model.ts';
import { MODEL_TABLE } from '../../../engine/models/model-table.ts';
import { writeFloats } from '../../../engine/models/pcm.ts';
import { openStepDecoder } from '../../../engine/models/whisper/decoder.ts';
import { openFreeEncoder } from '../../../engine/models/whisper/encoder.ts';
import { readWhisperFolder } from '../../../engine/models/whisper/folder.ts';
import { loopAtEnd } from '../../../engine/models/whisper/text-rules.ts';
import { runThrough } from '../../../engine/scheduler.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { TONE } from '../../engine/settings.ts';
import { finish } from '../../engine/speech.ts';
import { arithmeticClip } from './arithmetic-clip.ts';

/** What transformers made of a clip: fixtures/models/whisper/README.md. */
interface Case {
  readonly seed: number;
  readonly samples: number;
  /** The likeliest, as Whisper writes it. */
  readonly language: string;
  /** In English, and in that language. */
  readonly tokens: readonly number[];
  readonly detected?: readonly number[];
  /** With the window of 30 s. */
  readonly whole?: readonly number[];
  readonly logprobs: readonly number[];
  /** The frame of 20 ms that each token begins in, and the last one ends in. */
  readonly places: readonly number[];
  readonly features: readonly number[];
  readonly hidden: readonly number[];
  /** Behind the prompt. */
  readonly logits: readonly number[];
}

interface Cases {
  /** Every so many numbers are in the file. */
  readonly steps: Readonly<Record<'features' | 'hidden' | 'logits', number>>;
  readonly clips: readonly Case[];
}

const folderOf = (name: string) => packagePath('fixtures', 'models', 'whisper', name);
const { steps, clips } = JSON.parse(readFileSync(folderOf('cases.json'), 'utf8')) as Cases;
const ENGLISH = { language: 'en' } as const;
const CPU = { device: { provider: 'cpu' }, threads: 1 } as const;
const POSITION_SAMPLES = 320;

const clipOf = ({ seed, samples }: Case): Int16Array => arithmeticClip(seed, samples);

function load(name: string, modelGraphs: 'rewritten' | 'shipped' = 'rewritten'): Promise<Models> {
  return loadModels(MODEL_TABLE, { ...TONE, asrModel: folderOf(name), modelGraphs }, () => undefined);
}

function read(
  { asr }: Models,
  samples: Int16Array,
  options: ReadingOptions = ENGLISH,
  draft: readonly number[] = [],
): Promise<Recognition> {
  return runThrough(asr.transcribe(samples, draft, options));
}

/** Of a window with the speech and a second more. */
function featuresOf(one: Case): Float32Array {
  const window = new Float32Array(Math.ceil((one.samples + 16_000) / POSITION_SAMPLES) * POSITION_SAMPLES);
  writeFloats(clipOf(one), window, 0);
  return new LogMel(80).compute(window);
}

/** The greatest difference from every `step`th of `values`. */
function differenceFrom(expected: readonly number[], values: Float32Array, step: number): number {
  expect(expected.length).toBe(Math.ceil(values.length / step));
  return Math.max(...expected.map((value, index) => Math.abs(value - (values[index * step] as number))));
}

/** What is left of tokens where decoding stops at the first loop. */
function upToLoop(tokens: readonly number[]): readonly number[] {
  for (let end = 1; end <= tokens.length; end++) {
    const loop = loopAtEnd(tokens.slice(0, end));
    if (loop > 0) return tokens.slice(0, end - loop);
  }
  return tokens;
}

describe('the features of Whisper', () => {
  it('are those of transformers', () => {
    expect(clips.length).toBeGreaterThanOrEqual(16);
    for (const one of clips) expect(differenceFrom(one.features, featuresOf(one), steps.features)).toBeLessThan(1e-4);
  });
});

describe("Whisper's graphs", () => {
  it('encode windows of every length as transformers does', async () => {
    const { encoder, config } = readWhisperFolder(folderOf('window'), 'cpu');
    const open = await openFreeEncoder(encoder, config, { ...CPU, isFree: false });
    for (const one of clips) {
      const { encoder_hidden_states: hidden } = await runThrough(open.encode(featuresOf(one)));
      expect(differenceFrom(one.hidden, hidden?.data as Float32Array, steps.hidden)).toBeLessThan(1e-3);
    }
  });

  it('give the same logits behind a prompt', async () => {
    const { encoder, decoder, config, vocabulary } = readWhisperFolder(folderOf('free'), 'cpu');
    const open = await openFreeEncoder(encoder, config, { ...CPU, isFree: true });
    const text = await openStepDecoder(decoder, config, CPU);
    const { start, transcribe, withoutTimes } = vocabulary.control;
    const prompt = [start, vocabulary.tokenOf('en') ?? 0, transcribe, withoutTimes];
    for (const one of clips) {
      const logits = await text.begin(await runThrough(open.encode(featuresOf(one)))).add(prompt);
      const behind = logits.subarray(3 * config.vocabularySize);
      expect(differenceFrom(one.logits, behind, steps.logits)).toBeLessThan(1e-3);
    }
  });
});

describe.each(['free', 'window'])('Whisper in the folder %s', (folder) => {
  it('says what transformers says, of as many lengths as calls have', async () => {
    const models = await load(folder);
    expect(models.warning).toBeNull();
    for (const one of clips) {
      const said = await read(models, clipOf(one));
      expect(said.tokens).toEqual(one.tokens);
      expect(said.language).toBeUndefined();
      const off = one.logprobs.map((logprob, at) => Math.abs(logprob - (said.logprobs?.[at] ?? Number.NaN)));
      expect(Math.max(...off)).toBeLessThan(1e-3);
    }
    expect(new Set(clips.flatMap(({ tokens }) => tokens)).size).toBeGreaterThanOrEqual(30);
  });

  it('finds out the language, and reads in it', async () => {
    const models = await load(folder);
    for (const one of clips) {
      const said = await read(models, clipOf(one), {});
      expect(said.language).toBe(one.language === 'jw' ? 'jv' : one.language);
      if (one.detected === undefined) continue;
      expect(said.tokens.slice(1)).toEqual(one.detected);
      expect(said.logprobs?.length).toBe(one.detected.length);
      expect(await read(models, clipOf(one), {}, said.tokens)).toMatchObject({ tokens: said.tokens });
    }
    expect(new Set(clips.map(({ language }) => language)).size).toBeGreaterThan(1);
    expect(clips.filter(({ detected }) => detected !== undefined).length).toBeGreaterThan(4);
  });

  it('verifies a draft in one run, and goes on behind what is wrong in it', async () => {
    const { asr } = await load(folder);
    for (const one of clips.slice(2, 12)) {
      const clip = clipOf(one);
      const { runs: plain } = await finish(asr.transcribe(clip, [], ENGLISH));
      const { result, runs } = await finish(asr.transcribe(clip, one.tokens, ENGLISH));
      expect(result.tokens).toEqual(one.tokens);
      expect(runs).toBeLessThanOrEqual(plain - one.tokens.length + 1);
      const wrong = one.tokens.with(3, (one.tokens[3] ?? 0) + 1);
      expect((await runThrough(asr.transcribe(clip, wrong, ENGLISH))).tokens).toEqual(one.tokens);
      const { text } = result;
      expect((await runThrough(asr.transcribe(clip, [], { ...ENGLISH, draftText: text }))).tokens).toEqual(one.tokens);
    }
  });
});

describe('Whisper', () => {
  it('takes 30 s of a published graph that is not rewritten, as transformers does', async () => {
    const models = await load('window', 'shipped');
    const whole = clips.filter((one) => one.whole !== undefined);
    expect(whole.length).toBeGreaterThan(2);
    const { vocabulary } = readWhisperFolder(folderOf('window'), 'cpu');
    for (const one of whole) {
      const { text, looped } = await read(models, clipOf(one));
      const expected = upToLoop(one.whole ?? []);
      expect(text).toBe(vocabulary.textOf(expected));
      expect(looped).toBe(expected.length < (one.whole?.length ?? 0));
    }
  });

  it.each(['free', 'window'])('times words where the attention of its heads is, in the folder %s', async (folder) => {
    const models = await load(folder);
    for (const one of clips) {
      const { words = [], text } = await read(models, clipOf(one), { ...ENGLISH, timed: true });
      expect(words.map((word) => word.text).join(' ')).toBe(text);
      const starts = new Set(one.places.map((place) => 20 * place));
      const found = words.filter(({ startMs }) => starts.has(startMs));
      expect(found.length).toBeGreaterThanOrEqual(words.length - 1);
    }
  });

  it.each(['free-int8', 'window-int8'])('runs with 8-bit weights, in the folder %s', async (folder) => {
    const models = await load(folder);
    const said = await Promise.all(
      clips.slice(0, 12).map((one) => read(models, clipOf(one), { ...ENGLISH, timed: true })),
    );
    expect(new Set(said.flatMap(({ tokens }) => tokens)).size).toBeGreaterThanOrEqual(20);
    for (const { words, text, looped } of said)
      expect(words?.map((word) => word.text).join(' ')).toBe(looped ? undefined : text);
  });
});
