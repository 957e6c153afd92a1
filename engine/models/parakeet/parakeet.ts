/**
 * Parakeet TDT of NVIDIA: a FastConformer encoder and a token-and-duration transducer. It hears a stretch as a whole
 * and writes capitals and punctuation. https://huggingface.co/nvidia/parakeet-tdt-0.6b-v3
 */
import { basename, join } from 'node:path';
import { ENGINE_RATE_HZ, type SpokenWord } from '../../contract.ts';
import type { SoundCost } from '../../job-costs.ts';
import type { SessionOptions } from '../../onnx.ts';
import { Refusal } from '../../refusal.ts';
import { runThrough, type Steps } from '../../scheduler.ts';
import { costBySize } from '../graph-bytes.ts';
import { HotWordLists, type HotWords, type HotWordVocabulary } from '../hot-words.ts';
import { readBridge } from '../installed.ts';
import type { Asr, ReadingOptions, Recognition } from '../model.ts';
import { writeFloats } from '../pcm.ts';
import { stretchesOf } from '../stretches.ts';
import { openCutEncoder, openWholeEncoder, type ParakeetEncoder } from './encoder.ts';
import { FRAME_SAMPLES, ParakeetFeatures } from './features.ts';
import { type ParakeetFolder, readParakeetFolder } from './folder.ts';
import { openJoint } from './joint.ts';
import { type SpokenToken, Transducer } from './transducer.ts';
import { ParakeetVocabulary } from './vocabulary.ts';

/** The second version of 0.6B has 1024 tokens, all English; the third 8192 of 25 languages. */
const ENGLISH_TOKENS_MAX = 4096;
const ENGLISH = ['en'];
/** Those of parakeet-tdt-0.6b-v3, by its card; the one that is assumed first. */
const LANGUAGES = ('en bg cs da de el es et fi fr hr hu it lt lv mt nl pl pt ro ru sk sl sv uk' as const).split(' ');

/** The published encoders have positions for about so long; longer speech is heard in stretches. */
const STRETCH_MAX_SAMPLES = 35 * ENGINE_RATE_HZ;
/** Shorter speech is padded with silence: bands are measured against their own deviation, which needs some frames. */
const SAMPLES_MIN = ENGINE_RATE_HZ / 10;

/** Measured with random weights of 8 bits in the shape of 0.6B, 630 million bytes: 40 ms for each second. */
const COST_PER_MILLION_BYTES = { perJobMs: 0.016, perSecondMs: 0.0635 } as const;

/** Where Parakeet is and how it is to be run. */
export interface ParakeetOptions {
  /** Absolute path. */
  readonly folder: string | null;
  /** Intra-op threads of one model run. */
  readonly threads: number;
  /** `rewritten`: cut into parts. */
  readonly graphs: 'rewritten' | 'shipped';
}

/** A model that is open. */
export interface LoadedParakeet {
  readonly asr: Asr;
  /** Something an operator should know of how it runs; null = nothing. */
  readonly warning: string | null;
  /** BCP-47, the one that is assumed first. */
  readonly languages: readonly string[];
  readonly cost: SoundCost;
}

/**
 * Opens the model in a folder, in one of the two published layouts. It runs on the CPU.
 * @throws Refusal when the folder has no such model, or one that cannot be used
 */
export async function loadParakeet({ folder, threads, graphs }: ParakeetOptions): Promise<LoadedParakeet> {
  if (folder === null) throw new Refusal('model_missing', 'parakeet-tdt is no model of the npm packages');
  const found = readParakeetFolder(folder);
  const options: SessionOptions = { device: { provider: 'cpu' }, threads };
  const { encoder, warning } = await openEncoder(found, options, graphs);
  const vocabulary = new ParakeetVocabulary(found.pieces);
  const transducer = new Transducer(await openJoint(found.decoders, options), vocabulary.blank);
  const bridge = readBridge(folder);
  const name = bridge === null ? basename(folder) : `${bridge.name}-${bridge.version}`;
  const asr = new Parakeet(name, {
    encoder,
    transducer,
    vocabulary,
    bands: found.bands,
    subsampling: found.subsampling,
  });
  const told = bridge?.languages ?? [];
  const { encoder: encoderFile, decoders } = found.layout;
  const files = [encoderFile, ...decoders].map((name) => join(folder, name));
  const cost = costBySize(files, COST_PER_MILLION_BYTES);
  return { asr, warning, languages: told.length > 0 ? told : languagesOf(vocabulary), cost };
}

/** A graph that cannot be cut is run as it is. */
async function openEncoder(
  { encoder }: ParakeetFolder,
  options: SessionOptions,
  graphs: 'rewritten' | 'shipped',
): Promise<{ encoder: ParakeetEncoder; warning: string | null }> {
  if (graphs === 'shipped') return { encoder: await openWholeEncoder(encoder, options), warning: null };
  try {
    return { encoder: await openCutEncoder(encoder, options), warning: null };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const warning = `urgent work waits longer for the recogniser, for its graph could not be cut: ${reason}`;
    return { encoder: await openWholeEncoder(encoder, options), warning };
  }
}

function languagesOf({ blank }: ParakeetVocabulary): readonly string[] {
  return blank <= ENGLISH_TOKENS_MAX ? ENGLISH : LANGUAGES;
}

/** What a recogniser is made of. */
interface Parts {
  readonly encoder: ParakeetEncoder;
  readonly transducer: Transducer;
  readonly vocabulary: ParakeetVocabulary;
  readonly bands: number;
  readonly subsampling: number;
}

class Parakeet implements Asr {
  readonly name: string;
  readonly provider = 'cpu';
  readonly vocabularySize: number;
  readonly #parts: Parts;
  readonly #features: ParakeetFeatures;
  readonly #hotWords: HotWordLists;
  readonly #frameSamples: number;

  constructor(name: string, parts: Parts) {
    this.name = name;
    this.vocabularySize = parts.vocabulary.blank + 1;
    this.#parts = parts;
    this.#features = new ParakeetFeatures(parts.bands);
    this.#hotWords = new HotWordLists(hotWordVocabulary(parts.vocabulary));
    this.#frameSamples = FRAME_SAMPLES * parts.subsampling;
  }

  /** A draft would help nothing: nothing of a shorter stretch is the same in a longer one. */
  async *transcribe(
    samples: Int16Array,
    _draft: readonly number[],
    { timed = false, spelled = false, hotWords = [] }: ReadingOptions = {},
  ): Steps<Recognition> {
    const { vocabulary } = this.#parts;
    const words = this.#hotWords.of(hotWords);
    const spoken: SpokenToken[] = [];
    const limits = { maxSamples: STRETCH_MAX_SAMPLES, frameSamples: this.#frameSamples };
    for (const { from, to } of stretchesOf(samples.length, limits)) {
      const heard = yield* this.#hear(samples.subarray(from, to), words);
      spoken.push(...heard.map((each) => ({ ...each, frame: each.frame + from / this.#frameSamples })));
      yield;
    }
    const tokens = spoken.map(({ token }) => token);
    return {
      text: vocabulary.textOf(tokens),
      tokens,
      logprobs: Float32Array.from(spoken, ({ logprob }) => logprob),
      looped: false,
      ...(spelled && { pieces: tokens.map((token) => vocabulary.pieceOf(token)) }),
      ...(timed && { words: this.#wordsOf(spoken, samples.length) }),
    };
  }

  async *#hear(samples: Int16Array, hotWords: HotWords | null): Steps<SpokenToken[]> {
    const { encoder, transducer, bands } = this.#parts;
    const waveform = new Float32Array(Math.max(samples.length, SAMPLES_MIN));
    writeFloats(samples, waveform, 0);
    const features = this.#features.compute(waveform);
    yield;
    const speech = yield* encoder.encode(features, bands);
    yield;
    return yield* transducer.decode(speech, hotWords);
  }

  /** A word lasts from its first token to the end of its last one, by the durations that the model gave them. */
  #wordsOf(spoken: readonly SpokenToken[], samples: number): SpokenWord[] {
    const { vocabulary } = this.#parts;
    const endMs = Math.round((1000 * samples) / ENGINE_RATE_HZ);
    const toMs = (frame: number) => Math.min(Math.round((1000 * frame * this.#frameSamples) / ENGINE_RATE_HZ), endMs);
    const starts = spoken.flatMap(({ token }, index) => (index === 0 || vocabulary.beginsWord(token) ? [index] : []));
    return starts.flatMap((start, index) => {
      const tokens = spoken.slice(start, starts[index + 1] ?? spoken.length);
      const text = vocabulary.textOf(tokens.map(({ token }) => token));
      const [first, last] = [tokens[0], tokens.at(-1)];
      if (text === '' || first === undefined || last === undefined) return [];
      const next = spoken[starts[index + 1] ?? -1]?.frame ?? Number.POSITIVE_INFINITY;
      const end = Math.min(last.frame + Math.max(last.frames, 1), Math.max(next, first.frame + 1));
      const probability = Math.exp(tokens.reduce((sum, { logprob }) => sum + logprob, 0));
      return [{ text, startMs: toMs(first.frame), endMs: toMs(end), probability }];
    });
  }

  async warmUp(samples: Int16Array): Promise<void> {
    await runThrough(this.transcribe(samples, []));
  }
}

function hotWordVocabulary(vocabulary: ParakeetVocabulary): HotWordVocabulary {
  return { encode: (text) => vocabulary.encode(text), textOf: (token) => vocabulary.writtenBy(token) };
}
