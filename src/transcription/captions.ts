import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { samplesToMs } from '../foundation/units.ts';
import type { TimedWord } from './estimated-word-times.ts';
import type { FinalMarks } from './final-confidence.ts';
import type { Hypothesis } from './local-agreement.ts';

/**
 * Why speech that was received never became a final caption. `engine`: the engines failed at it, again and again;
 * `overload`: no engine had time for it; `shutdown`: the gateway was stopped before; `error`: something else went wrong
 * on our side.
 */
export type LossReason = 'engine' | 'overload' | 'shutdown' | 'error';

/**
 * What a transcriber emits about its track. Times are ms of the call's received audio; `lagMs` is wall time from the
 * arrival of the last audio used.
 */
export type TranscriberEvent =
  | { readonly type: 'speech.stopped'; readonly atMs: number }
  /**
   * `isUnsure`: it is so soft that it may be a television, and nobody else has spoken so far. Once that proves to be
   * wrong `speech.certain` follows.
   */
  | { readonly type: 'speech.started'; readonly atMs: number; readonly isUnsure?: true }
  | { readonly type: 'speech.certain'; readonly atMs: number }
  /**
   * The turn of the speaker is over: all that was said in its utterances `first` to `last`, whose finals are out.
   * `atMs` is the end of its speech.
   */
  | { readonly type: 'turn.ended'; readonly first: number; readonly last: number; readonly atMs: number }
  /** Another language is spoken from `atMs` on, or the first one is known, as the recogniser found out. */
  | { readonly type: 'language'; readonly language: string; readonly atMs: number }
  /** No final comes for this stretch: speech, or audio that voice detection never examined. */
  | { readonly type: 'gap'; readonly startMs: number; readonly endMs: number; readonly reason: LossReason }
  | ({
      readonly type: 'caption';
      /**
       * Counts the track's utterances from 1 in the order in which they began; one without words takes its number with
       * it.
       */
      readonly utterance: number;
      readonly stable: string;
      readonly tail: string;
      /**
       * `stable` and `tail` together; in a final the best reading of the utterance by itself, which `stable` may have
       * guessed wrongly and a revision may better.
       */
      readonly text: string;
      readonly final: boolean;
      readonly startMs: number;
      readonly endMs: number;
      readonly lagMs: number;
      /** Of a final, where they were asked for: its words, in order. */
      readonly words?: readonly TimedWord[];
    } & FinalMarks)
  /** A later, better text of an utterance whose final is out. */
  | {
      readonly type: 'revision';
      readonly utterance: number;
      /** The first of the utterances that were read together: words may have moved among them. */
      readonly first: number;
      /** The final is version 1, so this counts from 2. */
      readonly version: number;
      /** Empty when, as it turned out, nothing was said. */
      readonly text: string;
      /** As in the final. */
      readonly startMs: number;
      readonly endMs: number;
    };

/** What is known at once of the speech itself: everything but gaps, languages, revisions, ends of
 * turns, and what is certain of it later. */
export type SpeechEvent = Exclude<
  TranscriberEvent,
  { type: 'gap' | 'language' | 'revision' | 'turn.ended' | 'speech.certain' }
>;

export type TurnEnded = Extract<TranscriberEvent, { type: 'turn.ended' }>;

export type Revision = Extract<TranscriberEvent, { type: 'revision' }>;

export type Caption = Extract<TranscriberEvent, { type: 'caption' }>;

const SPOKEN = /[\p{L}\p{N}]/u;

/** Writes a track's events. Sample numbers (16 kHz, from the start of the track) go in, ms of the call come out. */
export class Captions {
  readonly #originMs: number;
  #utterances = 0;

  /** @param originMs ms of the call at which the track's first sample lies */
  constructor(originMs: number) {
    this.#originMs = originMs;
  }

  /** Speech began or ended at sample number `at`. */
  speech(type: 'speech.started' | 'speech.certain' | 'speech.stopped', at: number): TranscriberEvent {
    return { type, atMs: this.#ms(at) };
  }

  /** Speech began at sample number `at` that may be a television. */
  unsureSpeech(at: number): TranscriberEvent {
    return { type: 'speech.started', atMs: this.#ms(at), isUnsure: true };
  }

  /** The turn of utterances `first` to `last` is over; its speech ends at sample number `at`. */
  turnEnded(first: number, last: number, at: number): TurnEnded {
    return { type: 'turn.ended', first, last, atMs: this.#ms(at) };
  }

  /** `language` is spoken from sample number `at` on. */
  language(language: string, at: number): TranscriberEvent {
    return { type: 'language', language, atMs: this.#ms(at) };
  }

  /** No final comes of what lies between sample numbers `from` and `to`. */
  gap(from: number, to: number, reason: LossReason): TranscriberEvent {
    return { type: 'gap', startMs: this.#ms(from), endMs: this.#ms(to), reason };
  }

  /** The next utterance, whose speech begins at sample number `from`. */
  open(from: number): UtteranceCaptions {
    this.#utterances++;
    return new UtteranceCaptions(this.#utterances, this.#ms(from), (sample) => this.#ms(sample));
  }

  #ms(sample: number): number {
    return Math.round(this.#originMs + samplesToMs(sample, ENGINE_RATE_HZ));
  }
}

/**
 * One utterance's captions: partials while their text changes, then at most one final and its revisions. Text
 * without a letter or digit is noise and counts as none. Without words there is no caption, unless partials were shown:
 * then a final, empty if need be, ends them.
 */
export class UtteranceCaptions {
  readonly #utterance: number;
  readonly #startMs: number;
  readonly #ms: (sample: number) => number;
  #shown: Hypothesis | null = null;
  #final: Caption | null = null;
  #isForeign = false;
  #version = 1;
  #latestText = '';

  constructor(utterance: number, startMs: number, ms: (sample: number) => number) {
    this.#utterance = utterance;
    this.#startMs = startMs;
    this.#ms = ms;
  }

  /** Whether a partial was shown. */
  get shown(): boolean {
    return this.#shown !== null;
  }

  /**
   * The partial for `hypothesis` with speech up to sample number `to`; null when it has no words or the same text as
   * before.
   */
  partial(hypothesis: Hypothesis, to: number, lagMs: number): Caption | null {
    if (!SPOKEN.test(hypothesis.text)) return null;
    if (hypothesis.text === this.#shown?.text && hypothesis.stable === this.#shown.stable) return null;
    this.#shown = hypothesis;
    return this.#caption(hypothesis, false, to, lagMs);
  }

  /** It was read as `text` in a pause that begins at sample number `to`. Text without words is empty. */
  paused(text: string, to: number): { utterance: number; text: string; startMs: number; endMs: number } {
    const endMs = Math.max(this.#ms(to), this.#startMs);
    return { utterance: this.#utterance, text: SPOKEN.test(text) ? text : '', startMs: this.#startMs, endMs };
  }

  /** The final; null when it has no words and no partial was shown. Call once. */
  final(hypothesis: Hypothesis, to: number, lagMs: number, marks: FinalMarks = {}): Caption | null {
    const spoken = SPOKEN.test(hypothesis.text);
    this.#isForeign = marks.language === null;
    if (!spoken && !this.shown) return null;
    const said = spoken ? hypothesis : { ...hypothesis, tail: '', text: '' };
    this.#final = { ...this.#caption(said, true, to, lagMs), ...marks };
    this.#latestText = this.#final.text;
    return this.#final;
  }

  /** `caption` with its words, whose times count from the start of the track. */
  timed(caption: Caption, words: readonly TimedWord[]): Caption {
    const originMs = this.#ms(0);
    return {
      ...caption,
      words: words.map((word) => ({ ...word, startMs: word.startMs + originMs, endMs: word.endMs + originMs })),
    };
  }

  /**
   * The final of an utterance that had none, because it had no words until it was read together with others; null when
   * it has none now, or had a final.
   */
  lateFinal(text: string, to: number, lagMs: number): Caption | null {
    if (this.#final !== null || this.#isForeign || !SPOKEN.test(text)) return null;
    return this.final({ stable: text, tail: '', text }, to, lagMs);
  }

  /** Whether what was read is probably in no language that the recogniser understands. */
  get isForeign(): boolean {
    return this.#isForeign;
  }

  /** Whether there was a final, so that {@link revise} may have something to revise. */
  get isFinal(): boolean {
    return this.#final !== null;
  }

  /** The text of the final or of its last revision; empty before. */
  get latestText(): string {
    return this.#latestText;
  }

  /** Where its speech begins, in ms of the call. */
  get startMs(): number {
    return this.#startMs;
  }

  /** Counts the track's utterances from 1. */
  get utterance(): number {
    return this.#utterance;
  }

  /**
   * The next version of the text after the final, of a reading from utterance number `first` on; null when it says
   * what is known already, or there was no final.
   */
  revise(text: string, first: number): Revision | null {
    const revised = SPOKEN.test(text) ? text : '';
    if (this.#final === null || revised === this.#latestText) return null;
    // What a language that it does not understand was read as is no better when it is read again.
    if (this.#final.text === '' && this.#isForeign) return null;
    const { utterance, startMs, endMs } = this.#final;
    this.#latestText = revised;
    this.#version++;
    return { type: 'revision', utterance, first, version: this.#version, text: revised, startMs, endMs };
  }

  #caption({ stable, tail, text }: Hypothesis, final: boolean, to: number, lagMs: number): Caption {
    const endMs = Math.max(this.#ms(to), this.#startMs);
    return {
      type: 'caption',
      utterance: this.#utterance,
      stable,
      tail,
      text,
      final,
      startMs: this.#startMs,
      endMs,
      lagMs: Math.max(Math.round(lagMs), 0),
    };
  }
}
