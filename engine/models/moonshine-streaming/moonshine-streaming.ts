/**
 * Moonshine streaming ("v2"), of the folders that its publisher offers or engine/export/ makes. Its encoder sees only
 * some frames to each side, so what was encoded of an utterance stays as it is when more of it comes.
 * https://github.com/moonshine-ai/moonshine
 */
import { runThrough, type Steps } from '../../scheduler.ts';
import { decodeGreedily } from '../greedy.ts';
import { HotWordLists } from '../hot-words.ts';
import type { Asr, ReadingOptions, Recognition } from '../model.ts';
import { samplesFor, tokensAtMost } from '../speaking-pace.ts';
import { joinReadings, type StretchReading } from '../stretch-readings.ts';
import { stretchesOf } from '../stretches.ts';
import { toRecognition, upToEnd, withPieces, wordsOf } from '../token-texts.ts';
import type { StreamingConfig } from './config.ts';
import type { Decoder } from './decoder.ts';
import { FEATURE_SAMPLES } from './frontend.ts';
import type { CrossKv, Hearing } from './hearing.ts';
import type { TokenTable } from './token-table.ts';
import type { WordTimes } from './word-times.ts';

const NOTHING: Recognition = { text: '', tokens: [], logprobs: new Float32Array(0), looped: false };

/** Decoder runs of a warm-up. */
const WARM_UP_RUNS = 8;

/** The open parts of a model. */
export interface StreamingParts {
  readonly name: string;
  readonly provider: 'cpu' | 'cuda';
  readonly config: StreamingConfig;
  readonly tokens: TokenTable;
  readonly hearing: Hearing;
  /** The longest speech that the table of positions reaches. */
  readonly reachSamples: number;
  readonly decoder: Decoder;
  /** Null = the folder has no graph for them. */
  readonly wordTimes: WordTimes | null;
  /** BCP-47, at least one. */
  readonly languages: readonly string[];
}

/** The recogniser on graphs that are open. */
export class MoonshineStreaming implements Asr {
  readonly name: string;
  readonly provider: 'cpu' | 'cuda';
  readonly vocabularySize: number;
  readonly #parts: StreamingParts;
  readonly #hotWords: HotWordLists;

  constructor(parts: StreamingParts) {
    this.#parts = parts;
    this.#hotWords = new HotWordLists(new Vocabulary(parts.tokens));
    this.name = parts.name;
    this.provider = parts.provider;
    this.vocabularySize = parts.config.vocabularySize;
  }

  /** What is longer than the table of positions reaches is read in stretches. */
  async *transcribe(samples: Int16Array, draft: readonly number[], options: ReadingOptions = {}): Steps<Recognition> {
    const stretches = stretchesOf(samples.length, { maxSamples: this.#longestSamples, frameSamples: FEATURE_SAMPLES });
    if (stretches.length < 2) return yield* this.#read(samples, draft, options);
    const { draftText: _ofAll, stream: _beginsOtherwise, ...others } = options;
    const read: StretchReading[] = [];
    for (const { from, to } of stretches) {
      read.push({ from, recognition: yield* this.#read(samples.subarray(from, to), [], others) });
      yield;
    }
    return joinReadings(read);
  }

  /** As long as the table of positions and the longest text allow. */
  get #longestSamples(): number {
    const { reachSamples, config, languages } = this.#parts;
    return Math.min(reachSamples, samplesFor(config.textMaxTokens, languages));
  }

  async *#read(
    samples: Int16Array,
    draft: readonly number[],
    { timed = false, spelled = false, hotWords = [], draftText = '', stream }: ReadingOptions,
  ): Steps<Recognition> {
    const { tokens: texts, hearing, wordTimes } = this.#parts;
    const speech = yield* hearing.hear(samples, stream);
    if (speech === null) return NOTHING;
    yield;
    const text = draft.length > 0 || draftText === '' ? draft : texts.encode(` ${draftText}`);
    const said = yield* this.#decode(speech, text, this.#maxTokens(samples.length), hotWords);
    const read = toRecognition(said.tokens, said.logprobs, texts);
    const recognition = spelled ? withPieces(read, texts) : read;
    if (!timed || wordTimes === null || recognition.looped) return recognition;
    yield;
    const times = await wordTimes.align(recognition.tokens, speech);
    return { ...recognition, words: wordsOf(recognition, times, texts) };
  }

  async warmUp(samples: Int16Array): Promise<void> {
    const speech = await runThrough(this.#parts.hearing.hear(samples, undefined));
    if (speech === null) return;
    const draft = Array.from({ length: WARM_UP_RUNS }, (_, index) => index);
    await runThrough(this.#decode(speech, draft, 2 * WARM_UP_RUNS, []));
    if (this.#parts.wordTimes !== null) await this.#parts.wordTimes.align(draft, speech);
  }

  #maxTokens(samples: number): number {
    const { config, languages } = this.#parts;
    return Math.min(tokensAtMost(samples, languages), config.textMaxTokens);
  }

  #decode(speech: CrossKv, draft: readonly number[], maxTokens: number, hotWords: readonly string[]) {
    const { config, decoder } = this.#parts;
    const { startToken, endToken, vocabularySize } = config;
    return decodeGreedily(decoder.begin(speech), {
      startToken,
      endToken,
      vocabularySize,
      maxTokens,
      // A draft leaves room for at least one token more.
      draft: upToEnd(draft, endToken, maxTokens - 1),
      hotWords: this.#hotWords.of(hotWords),
    });
  }
}

/** The tokens as hot words need them. */
class Vocabulary {
  readonly #tokens: TokenTable;
  readonly #decoder = new TextDecoder();

  constructor(tokens: TokenTable) {
    this.#tokens = tokens;
  }

  encode(text: string): readonly number[] {
    return this.#tokens.encode(text);
  }

  textOf(token: number): string {
    return this.#decoder.decode(this.#tokens.pieceOf(token));
  }
}
