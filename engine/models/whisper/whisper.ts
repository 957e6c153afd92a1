/**
 * Whisper and distil-Whisper: an encoder of up to 30 s and a decoder that writes capitals, punctuation and numbers in a
 * hundred languages. Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision" (2022),
 * arXiv:2212.04356.
 */
import { ENGINE_RATE_HZ } from '../../contract.ts';
import { runThrough, type Steps } from '../../scheduler.ts';
import { decodeGreedily, type Said } from '../greedy.ts';
import { HotWordLists } from '../hot-words.ts';
import { LogMel } from '../log-mel.ts';
import type { Asr, ReadingOptions, Recognition } from '../model.ts';
import type { Tensors } from '../moonshine-graphs.ts';
import { writeFloats } from '../pcm.ts';
import { tokensAtMost } from '../speaking-pace.ts';
import { joinReadings, type StretchReading } from '../stretch-readings.ts';
import { stretchesOf } from '../stretches.ts';
import { toRecognition, upToEnd, withPieces, wordsOf } from '../token-texts.ts';
import type { WhisperConfig } from './config.ts';
import type { WhisperDecoder } from './decoder.ts';
import type { WhisperEncoder } from './encoder.ts';
import { PromptedText } from './prompted-text.ts';
import { loopAtEnd, WhisperRules } from './text-rules.ts';
import type { WhisperVocabulary } from './vocabulary.ts';
import { alignRows } from './word-times.ts';

/** Samples of one position of the encoder: 20 ms. */
const POSITION_SAMPLES = 320;
/**
 * Silence behind the speech: with less the last words are lost, and with more the model writes what nobody said
 * (measured with base on read speech: 3.6 % of words wrong with 1 s, 5.0 % with 2 s).
 */
const SILENCE_SAMPLES = ENGINE_RATE_HZ;
/** Tokens of the longest prompt, and the one that ends a text. */
const PROMPT_TOKENS = 5;

/** Nobody speaks where this is more probable, and the text less: whisper/transcribe.py. */
const NO_SPEECH_ABOVE = 0.6;
const MEAN_LOGPROB_BELOW = -1;

/** Decoder runs of a warm-up. */
const WARM_UP_RUNS = 8;

const NOTHING: Recognition = { text: '', tokens: [], logprobs: new Float32Array(0), looped: false };

/** The open parts of a model. */
export interface WhisperParts {
  readonly name: string;
  readonly provider: 'cpu' | 'cuda';
  readonly config: WhisperConfig;
  readonly vocabulary: WhisperVocabulary;
  readonly encoder: WhisperEncoder;
  readonly decoder: WhisperDecoder;
  /** BCP-47, the one that is assumed first. */
  readonly languages: readonly string[];
}

/** What was read, and in which language. */
interface Read extends Said {
  readonly prompted: PromptedText;
}

/** The recogniser on graphs that are open. */
export class Whisper implements Asr {
  readonly name: string;
  readonly provider: 'cpu' | 'cuda';
  readonly vocabularySize: number;
  readonly #parts: WhisperParts;
  readonly #features: LogMel;
  readonly #rules: WhisperRules;
  readonly #hotWords: HotWordLists;
  /** By token; those of {@link WhisperParts.languages} that the model knows. */
  readonly #languages: ReadonlyMap<number, string>;

  constructor(parts: WhisperParts) {
    const { config, vocabulary } = parts;
    this.name = parts.name;
    this.provider = parts.provider;
    this.vocabularySize = config.vocabularySize;
    this.#parts = parts;
    this.#features = new LogMel(config.bands);
    this.#rules = new WhisperRules(config, vocabulary.control.end);
    this.#hotWords = new HotWordLists({
      encode: (text) => vocabulary.encode(text),
      textOf: (token) => vocabulary.writtenBy(token),
    });
    const known = parts.languages.map((language) => [vocabulary.tokenOf(language), language] as const);
    this.#languages = new Map(known.flatMap(([token, language]) => (token === null ? [] : [[token, language]])));
  }

  /** What is longer than a window less its silence is read in stretches, all in the language of the first one. */
  async *transcribe(samples: Int16Array, draft: readonly number[], options: ReadingOptions = {}): Steps<Recognition> {
    const maxSamples = this.#parts.config.positions * POSITION_SAMPLES - SILENCE_SAMPLES;
    const stretches = stretchesOf(samples.length, { maxSamples, frameSamples: POSITION_SAMPLES });
    if (stretches.length < 2) return yield* this.#read(samples, draft, options);
    const { draftText: _ofAll, ...others } = options;
    const read: StretchReading[] = [];
    let language = options.language;
    for (const { from, to } of stretches) {
      const inOne = language === undefined ? others : { ...others, language };
      const recognition = yield* this.#read(samples.subarray(from, to), [], inOne);
      if (recognition.text !== '') language ??= recognition.language;
      read.push({ from, recognition });
      yield;
    }
    return joinReadings(read);
  }

  async *#read(samples: Int16Array, draft: readonly number[], options: ReadingOptions): Steps<Recognition> {
    if (samples.length === 0) return options.timed === true ? { ...NOTHING, words: [] } : NOTHING;
    const { vocabulary, encoder } = this.#parts;
    const features = this.#features.compute(this.#windowOf(samples));
    yield;
    const speech = yield* encoder.encode(features);
    yield;
    const said = yield* this.#decode(speech, samples.length, draft, options);
    const recognition = isNoSpeech(said) ? NOTHING : toText(said, vocabulary);
    const spelled = options.spelled === true ? withPieces(recognition, vocabulary) : recognition;
    const isTimed = options.timed === true && !spelled.looped;
    if (isTimed) yield;
    const read = isTimed ? await this.#withWords(spelled, said.prompted, speech, samples.length) : spelled;
    return options.language === undefined ? this.#withLanguage(read, said.prompted.language) : read;
  }

  /** Where it was not told, it stands before the draft of the next reading, which then need not find it out again. */
  #withLanguage(read: Recognition, token: number | null): Recognition {
    const language = token === null ? undefined : this.#languages.get(token);
    if (token === null || language === undefined) return read;
    return { ...read, language, tokens: read.tokens.length === 0 ? [] : [token, ...read.tokens] };
  }

  /** The speech and the silence behind it, or 30 s where the encoder takes nothing else. */
  #windowOf(samples: Int16Array): Float32Array {
    const { config, encoder } = this.#parts;
    const wanted = Math.ceil((samples.length + SILENCE_SAMPLES) / POSITION_SAMPLES);
    const positions = encoder.isFree ? Math.min(wanted, config.positions) : config.positions;
    const window = new Float32Array(positions * POSITION_SAMPLES);
    writeFloats(samples, window, 0);
    return window;
  }

  async *#decode(
    speech: Tensors,
    samples: number,
    draft: readonly number[],
    { language, hotWords = [], draftText = '' }: ReadingOptions,
  ): Steps<Read> {
    const { config, vocabulary, decoder, languages } = this.#parts;
    const { vocabularySize } = config;
    const { control } = vocabulary;
    const told = language === undefined ? null : vocabulary.tokenOf(language);
    const choices = told === null ? [...this.#languages.keys()] : [];
    const [first = -1, ...others] = draft;
    const isDrafted = this.#languages.has(first);
    const prompted = new PromptedText(decoder.begin(speech), {
      control,
      vocabularySize,
      language: told ?? (isDrafted ? first : (choices[0] ?? null)),
      choices,
    });
    const spoken = tokensAtMost(samples, language === undefined ? languages : [language]);
    const maxTokens = Math.min(spoken, config.textPositions - PROMPT_TOKENS);
    const text = draft.length === 0 && draftText !== '' ? vocabulary.encode(` ${draftText}`) : draft;
    const said = yield* decodeGreedily(prompted, {
      startToken: prompted.startToken,
      endToken: control.end,
      vocabularySize,
      maxTokens,
      // A draft leaves room for at least one token more.
      draft: upToEnd(isDrafted ? others : text, control.end, maxTokens - 1),
      hotWords: this.#hotWords.of(hotWords),
      rules: this.#rules,
    });
    return { ...said, prompted };
  }

  /** One model run. */
  async #withWords(
    recognition: Recognition,
    { prompt }: PromptedText,
    speech: Tensors,
    samples: number,
  ): Promise<Recognition> {
    const { decoder, vocabulary } = this.#parts;
    const { tokens } = recognition;
    if (tokens.length === 0) return { ...recognition, words: [] };
    const attention = await decoder.attend([...prompt, ...tokens, vocabulary.control.end], speech);
    if (attention === null) return recognition;
    const frames = Math.max(1, Math.floor(samples / POSITION_SAMPLES));
    const times = alignRows(attention, prompt.length - 1, frames).map((frame) => frame * POSITION_SAMPLES);
    return { ...recognition, words: wordsOf(recognition, times, vocabulary) };
  }

  async warmUp(samples: Int16Array): Promise<void> {
    const speech = await runThrough(this.#parts.encoder.encode(this.#features.compute(this.#windowOf(samples))));
    const token = this.#parts.vocabulary.control.start;
    const text = this.#parts.decoder.begin(speech);
    await text.add(Array.from({ length: WARM_UP_RUNS }, () => token));
    for (let run = 0; run < WARM_UP_RUNS; run++) await text.add([token]);
  }
}

/** As its authors' program leaves it out. */
function isNoSpeech({ prompted, logprobs }: Read): boolean {
  const mean = logprobs.reduce((sum, logprob) => sum + logprob, 0) / (logprobs.length + 1);
  return prompted.noSpeech > NO_SPEECH_ABOVE && mean < MEAN_LOGPROB_BELOW;
}

/** A loop at the end is cut to its first round. */
function toText({ tokens, logprobs }: Said, vocabulary: WhisperVocabulary): Recognition {
  const loop = loopAtEnd(tokens);
  if (loop === 0) return toRecognition(tokens, logprobs, vocabulary);
  const text = vocabulary.textOf(tokens.slice(0, -loop));
  return { text, tokens: [], logprobs: new Float32Array(0), looped: true };
}
