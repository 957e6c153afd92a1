/**
 * Qwen3-ASR of Alibaba: an audio encoder, and a language model that is given the speech in a prompt. It knows 30
 * languages and finds out which is spoken. https://github.com/QwenLM/Qwen3-ASR
 */
import { ENGINE_RATE_HZ, type SpokenWord } from '../../contract.ts';
import { runThrough, type Steps } from '../../scheduler.ts';
import type { Asr, ReadingOptions, Recognition } from '../model.ts';
import { quietStretches } from '../quiet-cuts.ts';
import { samplesFor, tokensAtMost } from '../speaking-pace.ts';
import { joinReadings, type StretchReading } from '../stretch-readings.ts';
import type { ForcedAligner } from './aligner/aligner.ts';
import { AnswerPlanner, type AnswerStart } from './answer.ts';
import type { QwenConfig } from './config.ts';
import { warmUpSizes } from './encoder.ts';
import { QwenFeatures } from './features.ts';
import { nameOfLanguage } from './languages.ts';
import { parseOutput } from './output.ts';
import type { AudioEncoder, TextDecoder, WrittenText } from './parts.ts';
import { answerIn, type PromptWriter } from './prompt.ts';
import type { QwenTokenizer } from './tokenizer.ts';

/** Tokens that name the language, about. */
const LANGUAGE_TOKENS = 8;
/** So much of an utterance is read anew each time; behind that, partials take over what was read before. */
const UNFIXED_SAMPLES = 4 * ENGINE_RATE_HZ;
/** Tokens that a partial adds at most to what it took over. */
const PARTIAL_TOKENS = 32;
/** How far from the longest stretch a pause is looked for. */
const PAUSE_REACH_SAMPLES = 5 * ENGINE_RATE_HZ;
/**
 * Tokens of a draft at most, 20 s of quick speech: a run has the logits of each of them twice, of 0.6 MB, for each of
 * the texts that share it.
 */
const DRAFT_TOKENS_MAX = 128;
/** Tokens of a warm-up: of its draft, and those that it adds. */
const WARM_UP_TOKENS = 16;
const WARM_UP_WORDS = 'a word';
/** No token. */
const NEVER = [-1];

const NOTHING: Recognition = { text: '', tokens: [], logprobs: new Float32Array(0), looped: false };

/** The open parts of a model. */
export interface QwenParts {
  readonly name: string;
  readonly provider: 'cpu' | 'cuda';
  /** Readings that share a run at most; absent = 1. */
  readonly batchMax?: number;
  readonly config: Pick<QwenConfig, 'vocabularySize' | 'endTokens' | 'maxNewTokens'> &
    ConstructorParameters<typeof QwenFeatures>[0];
  readonly tokenizer: QwenTokenizer;
  readonly prompts: PromptWriter;
  readonly encoder: AudioEncoder;
  readonly decoder: TextDecoder;
  /** Says when words were said; null = the folder has none. */
  readonly aligner: Pick<ForcedAligner, 'align'> | null;
  /** BCP-47 of languages that the model has a name for, the one that is assumed first. */
  readonly languages: readonly string[];
}

/** The recogniser on parts that are open. */
export class Qwen3Asr implements Asr {
  readonly name: string;
  readonly provider: 'cpu' | 'cuda';
  readonly batchMax: number;
  readonly vocabularySize: number;
  readonly #parts: QwenParts;
  readonly #features: QwenFeatures;
  readonly #planner: AnswerPlanner;

  constructor(parts: QwenParts) {
    this.#parts = parts;
    this.#features = new QwenFeatures(parts.config);
    this.#planner = new AnswerPlanner(parts.tokenizer, parts.prompts);
    this.name = parts.name;
    this.provider = parts.provider;
    this.batchMax = parts.batchMax ?? 1;
    this.vocabularySize = parts.config.vocabularySize;
  }

  /** What may need more tokens than the model writes is cut in pauses, and read piece by piece. */
  async *transcribe(samples: Int16Array, draft: readonly number[], options: ReadingOptions = {}): Steps<Recognition> {
    const longest = samplesFor(this.#parts.config.maxNewTokens - LANGUAGE_TOKENS, this.#parts.languages);
    const reachSamples = Math.min(PAUSE_REACH_SAMPLES, Math.floor(longest / 4));
    const stretches = quietStretches(samples, { aimSamples: longest - reachSamples, reachSamples });
    if (stretches.length === 0) return options.spelled === true ? { ...NOTHING, pieces: [] } : NOTHING;
    if (stretches.length === 1) return yield* this.#read(samples, draft, options);
    const { draftText: _ofAll, goesOn: _ofTheLast, ...others } = options;
    const read: StretchReading[] = [];
    for (const { from, to } of stretches) {
      read.push({ from, recognition: yield* this.#read(samples.subarray(from, to), [], others) });
      yield;
    }
    // Each has tokens that name the language: together they begin no text.
    return { ...joinReadings(read), tokens: [] };
  }

  async *#read(samples: Int16Array, draft: readonly number[], options: ReadingOptions): Steps<Recognition> {
    const { prompts, encoder, decoder, config } = this.#parts;
    const clip = this.#features.compute(samples);
    yield;
    const audio = yield* encoder.encode(clip);
    const { language, context = '', hotWords = [], goesOn = false, draftText = '' } = options;
    const told = language === undefined ? null : nameOfLanguage(language);
    const isFixed = goesOn && samples.length > UNFIXED_SAMPLES;
    const start = this.#planner.plan({ draft, draftText, isFixed, told, assumed: this.#assumed });
    const maxTokens = Math.max(
      this.#maxTokens(samples.length, told === null ? null : language) - start.fixed.length,
      1,
    );
    const { redraft } = start;
    const written = yield* decoder.write({
      prompt: prompts.write({ context, hotWords, audioTokens: clip.tokens, answer: start.parts }),
      audio,
      // A draft leaves room for at least one token more.
      draft: start.draft.slice(0, Math.min(maxTokens - 1, DRAFT_TOKENS_MAX)),
      ...(redraft !== undefined && { redraft: (tokens) => redraft(tokens).slice(0, DRAFT_TOKENS_MAX) }),
      maxTokens,
      newTokensMax: start.fixed.length > 0 ? PARTIAL_TOKENS : maxTokens,
      endTokens: config.endTokens,
    });
    const recognition = this.#recognise(start, written, told, options.spelled === true);
    if (options.timed !== true || recognition.looped) return recognition;
    yield;
    const words = yield* this.#wordsOf(samples, recognition.text, language ?? recognition.language);
    return words === null ? recognition : { ...recognition, words };
  }

  /** Null = there is no aligner, or none for what was said. @param language BCP-47; undefined = nobody knows */
  async *#wordsOf(samples: Int16Array, text: string, language: string | undefined): Steps<SpokenWord[] | null> {
    const { aligner } = this.#parts;
    if (aligner === null || language === undefined) return null;
    return yield* aligner.align(samples, text, language);
  }

  #recognise({ fixed }: AnswerStart, written: WrittenText, told: string | null, isSpelled: boolean): Recognition {
    const { tokenizer } = this.#parts;
    const all = [...fixed, ...written.tokens];
    const { text, language, looped } = parseOutput(tokenizer.textOf(all), told !== null);
    const found = language === null ? undefined : this.#languageLike(language);
    const known = { text, looped, ...(found !== undefined && { language: found }) };
    if (looped) return { ...known, tokens: [], logprobs: new Float32Array(0), ...(isSpelled && { pieces: [] }) };
    const spoken = told === null ? this.#planner.textIn(all) : all;
    const pieces = spoken.map((token) => tokenizer.pieceOf(token));
    const logprobs = written.logprobs.slice(Math.max(all.length - spoken.length - fixed.length, 0));
    return {
      ...known,
      tokens: told === null ? all : [...tokenizer.encodeParts(answerIn(told)), ...all],
      logprobs: fixed.length > 0 ? null : Float32Array.from(logprobs),
      ...(isSpelled && { pieces }),
    };
  }

  /** What the model calls the language that is assumed where none is told. */
  get #assumed(): string {
    return nameOfLanguage(this.#parts.languages[0] ?? '') ?? '';
  }

  /** The one of the recogniser's languages that has the model's name for `code`. */
  #languageLike(code: string): string | undefined {
    const name = nameOfLanguage(code);
    return this.#parts.languages.find((language) => nameOfLanguage(language) === name);
  }

  #maxTokens(samples: number, language: string | null | undefined): number {
    const { config, languages } = this.#parts;
    const said = tokensAtMost(samples, language ? [language] : languages);
    return Math.min(said + (language ? 0 : LANGUAGE_TOKENS), config.maxNewTokens);
  }

  async warmUp(samples: Int16Array): Promise<void> {
    const { tokenizer, prompts, encoder, decoder, config, aligner } = this.#parts;
    await warmUpSizes(encoder, config, this.provider);
    const clip = this.#features.compute(samples);
    const audio = await runThrough(encoder.encode(clip));
    const answer = answerIn(this.#assumed);
    // The last token of text shows whether the graphs know as many as the tokenizer.
    const draft = [...tokenizer.encode('a b c d e f g h').slice(0, WARM_UP_TOKENS - 1), tokenizer.plainEnd - 1];
    await runThrough(
      decoder.write({
        prompt: prompts.write({ context: '', hotWords: [], audioTokens: clip.tokens, answer }),
        audio,
        draft,
        maxTokens: draft.length + WARM_UP_TOKENS,
        newTokensMax: WARM_UP_TOKENS,
        endTokens: NEVER,
      }),
    );
    if (aligner !== null) await runThrough(aligner.align(samples, WARM_UP_WORDS, 'en'));
  }
}
