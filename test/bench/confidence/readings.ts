/** What the recogniser makes of sounds, with its probabilities and what of it is right. */
import { ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../../engine/contract.ts';
import type { Asr, Vad } from '../../../engine/models/model.ts';
import { loadMoonshine } from '../../../engine/models/moonshine.ts';
import { loadSilero } from '../../../engine/models/silero.ts';
import { FIXED_ENGINE_SETTINGS } from '../../../src/engine-client/engine-client-factory.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { cleanText } from '../../../src/transcription/clean-text.ts';
import { ClipCutter } from '../../../src/transcription/speech-clips.ts';
import { finish } from '../../engine/speech.ts';
import { rightWords } from '../wer/align.ts';
import { normaliseWords } from '../wer/normalise.ts';
import { throughPhone } from '../whole-recordings.ts';
import type { Sound } from './speech-sets.ts';

/** A word of a text: the recogniser's probability, and whether it is right. */
export interface ReadWord {
  readonly probability: number;
  readonly isRight: boolean;
}

/** A text. */
export interface Reading {
  readonly set: string;
  /** Which prompt or recording it is of; the same in all conditions. */
  readonly source: number;
  readonly isEnglish: boolean;
  readonly text: string;
  readonly seconds: number;
  readonly logprobs: Float32Array;
  /** Words of the text and how many of them are right; 0 where nobody knows what was said. */
  readonly words: number;
  readonly right: number;
  /** Empty where the words of the text do not correspond to those that it was compared by. */
  readonly each: readonly ReadWord[];
}

/** The models that read. */
export class Reader {
  readonly #asr: Asr;
  readonly #vad: Vad;
  readonly #settings = readSettings({});

  private constructor(asr: Asr, vad: Vad) {
    this.#asr = asr;
    this.#vad = vad;
  }

  static async load(): Promise<Reader> {
    const { asr } = await loadMoonshine({
      device: { provider: 'cpu' },
      threads: 1,
      graphs: 'rewritten',
      cacheDir: readSettings({}).MODEL_CACHE_DIR,
      runTokens: FIXED_ENGINE_SETTINGS.decodeRunTokens,
      progress: () => undefined,
    });
    return new Reader(asr, await loadSilero({ threads: 1 }));
  }

  /** A sound with known words as one, any other cut as voice detection cuts a recording; µ-law on the way. */
  async read(sound: Sound): Promise<Reading[]> {
    const samples = throughPhone(sound.samples);
    const clips = sound.words === null ? await this.#cut(samples) : [samples];
    const readings: Reading[] = [];
    for (const clip of clips) readings.push(await this.#readClip(sound, clip));
    return readings;
  }

  async #readClip({ set, source, language, words: said }: Sound, clip: Int16Array): Promise<Reading> {
    const { result } = await finish(this.#asr.transcribe(clip, [], { timed: said !== null }));
    const text = cleanText(result.text);
    const words = normaliseWords(text);
    const isRight = said === null ? [] : rightWords(said, words);
    const logprobs = result.logprobs ?? new Float32Array(0);
    const reading = {
      set,
      source,
      isEnglish: language === 'en',
      text,
      seconds: clip.length / ENGINE_RATE_HZ,
      logprobs,
    };
    if (said === null) return { ...reading, words: 0, right: 0, each: [] };
    return {
      ...reading,
      words: words.length,
      right: isRight.filter(Boolean).length,
      each: eachWord(result.words ?? [], words, isRight),
    };
  }

  async #cut(samples: Int16Array): Promise<Int16Array[]> {
    const padded = new Int16Array(Math.ceil(samples.length / VAD_WINDOW_SAMPLES + 1) * VAD_WINDOW_SAMPLES);
    padded.set(samples);
    const [track] = (await finish(this.#vad.detect([{ samples: padded, state: null }]))).result;
    const cutter = new ClipCutter(this.#settings);
    const clips = [...cutter.push(padded, track?.probabilities ?? new Float32Array(0)), ...cutter.finish()];
    return clips.map(({ spliced }) => spliced.samples);
  }
}

/** A word of the text may be several of those that are compared, `$5` for one: it is right when they all are. */
function eachWord(
  spoken: readonly { readonly text: string; readonly probability?: number }[],
  words: readonly string[],
  isRight: readonly boolean[],
): ReadWord[] {
  const parts = spoken.map(({ text }) => normaliseWords(text));
  if (parts.flat().join(' ') !== words.join(' ')) return [];
  let at = 0;
  return spoken.flatMap(({ probability = Number.NaN }, index) => {
    const count = parts[index]?.length ?? 0;
    const right = isRight.slice(at, at + count).every(Boolean);
    at += count;
    return count === 0 ? [] : [{ probability, isRight: right }];
  });
}
