import type { JobCost, SpokenWord } from '../../engine/contract.ts';
import {
  type Engine,
  EngineError,
  type EngineErrorCode,
  type TranscribeRequest,
  type Transcript,
} from '../engine-client/engine.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { cleanText } from './clean-text.ts';
import { calibratedOf } from './confidence.ts';
import { understandAnswer } from './expected-answer.ts';
import { readAgain, sumCosts, understandSpeech } from './second-look.ts';
import { type ExpectedSpeech, guessOf, type LanguageGuess } from './track-language.ts';

export type DecoderSettings = Pick<Settings, 'CHUNK_MS' | 'EAGER_MS' | 'ENDPOINT_MS' | 'FINAL_LATE_MS'>;

/** An earlier reading of the same speech, or of its beginning. */
export type Draft = Pick<TranscribeRequest, 'draft' | 'draftBy' | 'draftText'>;

/** What is to be decoded, and what is known of it. */
export type DecodeRequest = Draft &
  Pick<TranscribeRequest, 'samples' | 'timed' | 'stream'> & { readonly signal: AbortSignal };

/**
 * What a decode is for. `eager`: a final begun before it is certain that speech is over; `joint`: utterances that are
 * over, read together.
 */
export type DecodePurpose = 'partial' | 'eager' | 'final' | 'joint';

/** A stretch of audio as text. */
export interface DecodedText {
  readonly ok: true;
  readonly text: string;
  /** For the next partial of the same window; empty when it went round in a loop. */
  readonly draft: Draft;
  /** Of the text's tokens; null where confidence cannot be told from them, empty after a loop. */
  readonly logprobs: Float32Array | null;
  readonly looped: boolean;
  /** How sure it is as an answer that is expected (0–1), in place of what {@link logprobs} say; null = they do. */
  readonly sureness: number | null;
  /** When they were asked for and can be told. */
  readonly words: readonly SpokenWord[] | undefined;
  /** BCP-47 of the language that it was read in; null = nobody said, and the recogniser cannot tell. */
  readonly language: string | null;
  /** The language that the recogniser found, whether or not it was read in it; null = none. */
  readonly guess: LanguageGuess | null;
  /** Whether the recogniser of partials read it in the place of that of finals. */
  readonly isFallback: boolean;
  /** What the recogniser of finals makes of it, too late; null = it was not asked. */
  readonly late: Promise<Decoded> | null;
  readonly cost: JobCost;
}

/** The engine's answer to one stretch of audio. */
export type Decoded = DecodedText | { readonly ok: false; readonly code: EngineErrorCode };

/** A joint reading gives way where partials do: engines drop either when they have no time for it. */
const URGENCY = { partial: 'partial', eager: 'eager', final: 'final', joint: 'partial' } as const;

/** Which of two recognisers is wanted; a joint reading by the first one would make the texts of the other worse. */
const USE = { partial: 'live', eager: 'final', final: 'final', joint: 'final' } as const;

/** What becomes a final: it may be read as an answer, where one is expected. */
const FINAL_PURPOSES: readonly DecodePurpose[] = ['eager', 'final'];

/** Numbers of {@link newStream} given out. */
let streams = 0;

/** A number for {@link TranscribeRequest.stream} that no other stream of this process has. */
export function newStream(): number {
  streams += 1;
  return streams;
}

/** Finals are wanted at once; this only orders them among each other. */
const FINAL_DUE_MS = 100;
/** A revision is worth having some seconds later; one that is not begun by then is not made. */
const JOINT_DUE_MS = 2000;
const BATCH_DUE_MS = 60_000;

interface DecoderOptions {
  readonly urgency: 'live' | 'batch';
  readonly settings: DecoderSettings;
  readonly expected: ExpectedSpeech;
  /** Whether finals are to say when their words were spoken. */
  readonly isTimed?: boolean | undefined;
}

/**
 * Asks the engine for text with the urgency and deadline that fit the purpose, and removes endless repetitions from the
 * answer.
 */
export class Decoder {
  readonly #engine: Engine;
  readonly #urgency: 'live' | 'batch';
  readonly #expected: ExpectedSpeech;
  readonly #isTimed: boolean;
  readonly #dueMs: Readonly<Record<DecodePurpose, number>>;
  /** When the recogniser of finals is too late. */
  readonly #lateMs: Readonly<Partial<Record<DecodePurpose, number>>>;

  constructor(engine: Engine, { urgency, settings, expected, isTimed = false }: DecoderOptions) {
    this.#isTimed = isTimed;
    this.#engine = engine;
    this.#urgency = urgency;
    this.#expected = expected;
    this.#dueMs = {
      partial: settings.CHUNK_MS,
      eager: Math.max(settings.ENDPOINT_MS - settings.EAGER_MS, FINAL_DUE_MS),
      final: FINAL_DUE_MS,
      joint: JOINT_DUE_MS,
    };
    const untilEndMs = Math.max(settings.ENDPOINT_MS - settings.EAGER_MS, 0);
    this.#lateMs = { eager: untilEndMs + settings.FINAL_LATE_MS, final: settings.FINAL_LATE_MS };
  }

  /** Share of engine time in use (0–1). */
  get load(): number {
    return this.#engine.load;
  }

  /** The same of the recogniser that reads finals and joint readings. */
  get finalLoad(): number {
    return this.#engine.finalLoad;
  }

  /** Never fails: a failure is an answer. */
  async decode(purpose: DecodePurpose, request: DecodeRequest): Promise<Decoded> {
    const batch = this.#urgency === 'batch';
    const lateInMs = batch ? undefined : this.#lateMs[purpose];
    const job = {
      ...request,
      ...this.#expectedIn(purpose),
      use: USE[purpose],
      urgency: batch ? 'batch' : URGENCY[purpose],
      dueInMs: batch ? BATCH_DUE_MS : this.#dueMs[purpose],
      ...(lateInMs !== undefined && { lateInMs }),
      ...(purpose === 'partial' && { goesOn: true }),
      ...(this.#isTimed && FINAL_PURPOSES.includes(purpose) && { timed: true }),
    } as const;
    try {
      // A partial without words is followed by the next one.
      const read = await (purpose === 'partial' ? this.#engine.transcribe(job) : understandSpeech(this.#engine, job));
      const guess = purpose === 'partial' ? null : guessOf(read, job.samples);
      const { transcript, language } = await this.#inItsLanguage(read, guess, job);
      const { answer = null } = this.#expected;
      if (answer === null || !FINAL_PURPOSES.includes(purpose))
        return { ...toDecoded(transcript, purpose), language, guess };
      const asAnswer = await understandAnswer(this.#engine, { request: job, transcript }, answer);
      const { sureness } = asAnswer;
      return { ...toDecoded(asAnswer.transcript, purpose), sureness, language, guess };
    } catch (error) {
      if (error instanceof EngineError) return { ok: false, code: error.code };
      throw error;
    }
  }

  /** In finals the recogniser finds the language out each time, unless somebody named it. */
  #expectedIn(purpose: DecodePurpose): Pick<TranscribeRequest, 'language' | 'hotWords'> {
    const { language, hotWords } = this.#expected;
    const finds = purpose === 'eager' || purpose === 'final';
    const known = finds ? language.named : language.current;
    return { ...(known !== null && { language: known }), ...(hotWords.length > 0 && { hotWords }) };
  }

  /** What was read in a language that is doubted is read again in that of the track. */
  async #inItsLanguage(
    read: Transcript,
    guess: LanguageGuess | null,
    job: TranscribeRequest,
  ): Promise<{ readonly transcript: Transcript; readonly language: string | null }> {
    const { language } = this.#expected;
    const { current } = language;
    if (guess === null || current === null || language.accepts(guess))
      return { transcript: read, language: guess?.language ?? job.language ?? null };
    const again = await understandSpeech(this.#engine, { ...readAgain(job, read), language: current });
    return { transcript: { ...again, cost: sumCosts(read.cost, again.cost) }, language: current };
  }
}

function toDecoded(transcript: Transcript, purpose: DecodePurpose): DecodedText {
  const { text, tokens, looped, by, late, cost } = transcript;
  const { logprobs, words } = calibratedOf(transcript);
  const cleaned = cleanText(text);
  const forOther = by === undefined ? {} : { draftBy: by, draftText: looped ? '' : cleaned };
  return {
    ok: true,
    text: cleaned,
    draft: { draft: looped ? [] : tokens, ...forOther },
    logprobs,
    looped,
    sureness: null,
    words,
    language: transcript.language ?? null,
    guess: null,
    isFallback: by === 'live' && USE[purpose] === 'final',
    late: late === undefined ? null : late.then((found) => (found === null ? STALE : toDecoded(found, purpose))),
    cost,
  };
}

const STALE: Decoded = { ok: false, code: 'stale' };
