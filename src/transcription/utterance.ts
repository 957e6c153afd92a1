import type { JobCost } from '../../engine/contract.ts';
import { pause } from '../foundation/abortable-pause.ts';
import type { Clock } from '../foundation/clock.ts';
import { type Decoded, type DecodedText, type DecodePurpose, type Decoder, type Draft, newStream } from './decoder.ts';
import type { Stretch } from './endpointer.ts';
import { type Hypothesis, LocalAgreement } from './local-agreement.ts';
import { newRetryBackoff } from './retry-backoff.ts';
import type { SampleRing } from './sample-ring.ts';
import { partialDue, partialWindow, type Window, type WindowSettings } from './windows.ts';

/**
 * Failures in a row after which a final falls back to the last hypothesis (1.5 s); without a hypothesis it is tried
 * for about 17 s.
 */
const FALLBACK_FAILURES = 5;
const GIVE_UP_FAILURES = 13;

/**
 * How a final came about: from the eager decode, from one of its own, or from the last hypothesis because no decode
 * could be had.
 */
export type FinalHow = 'eager' | 'fresh' | 'fallback';

/** When the decode of a final was asked for and answered, in ms on the clock, and what it cost. */
export interface TimedDecode {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly cost: JobCost;
}

/** The text an utterance ended with. */
export interface Outcome {
  readonly how: FinalHow;
  readonly hypothesis: Hypothesis;
  /** Of the decode that the text is; null for a `fallback`, and where the recogniser has none. */
  readonly logprobs: Float32Array | null;
  /** In place of what {@link logprobs} say; null = they do. */
  readonly sureness: number | null;
  /** The language that the text was read in, and the one that the recogniser found; null = not known. */
  readonly language: DecodedText['language'];
  readonly guess: DecodedText['guess'];
  /** Whether the recogniser of partials read it in the place of that of finals, and what that one still makes of it. */
  readonly isFallback: DecodedText['isFallback'];
  readonly late: DecodedText['late'];
  /** When the words of the text were spoken in the audio, as the recogniser says. */
  readonly words: DecodedText['words'];
  /** The text is of the audio before this sample number: all of it, but for a `fallback`. */
  readonly decodedTo: number;
  /** The decode that the text is; null for a `fallback`. */
  readonly decode: TimedDecode | null;
  /** Decodes of the final that failed before. */
  readonly failures: number;
}

/** Where an utterance begins, what it is decoded with, and its callbacks. */
export interface UtteranceOptions {
  /** First sample with the pre-roll, and first sample of speech. */
  readonly from: number;
  readonly speechFrom: number;
  readonly audio: SampleRing;
  readonly decoder: Decoder;
  readonly clock: Clock;
  readonly settings: WindowSettings;
  /** A newer text of the running utterance, decoded from the audio up to `stretch`. */
  onHypothesis(hypothesis: Hypothesis, stretch: Stretch): void;
  onPartialDropped(): void;
  /** The running utterance as it is read in a pause that still lasts. */
  onEager?: ((text: string, stretch: Stretch) => void) | undefined;
}

interface Eager {
  readonly to: number;
  readonly samples: Int16Array;
  readonly controller: AbortController;
  readonly result: Promise<Timed>;
}

/** The answer to a decode of a final, and when it was asked for and came. */
interface Timed {
  readonly decoded: Decoded;
  readonly askedMs: number;
  readonly answeredMs: number;
}

type GoodText = Pick<
  DecodedText,
  'text' | 'logprobs' | 'sureness' | 'language' | 'guess' | 'isFallback' | 'late' | 'words'
>;

const NO_DRAFT: Draft = { draft: [] };

/**
 * The decodes of one utterance: partials (one in flight, one waiting, a newer one replaces that), the eager decode
 * while silence lasts, and the final. Partials get the previous tokens as draft; eager and final decodes none, so that
 * a final does not depend on the partials before it.
 */
export class Utterance {
  readonly from: number;
  /** First sample of speech. */
  readonly speechFrom: number;
  readonly #options: UtteranceOptions;
  readonly #agreement = new LocalAgreement();
  /** Aborts the final and its retries. */
  readonly #life = new AbortController();
  #finished = false;
  #askedTo: number;
  #decoded: Window;
  /** Of the samples from `from` on. */
  readonly #stream = newStream();
  #draft: Draft = NO_DRAFT;
  #partial: AbortController | null = null;
  #waiting: Stretch | null = null;
  #eager: Eager | null = null;
  /** Decodes of the final that failed. */
  #failures = 0;

  constructor(options: UtteranceOptions) {
    this.from = options.from;
    this.speechFrom = options.speechFrom;
    this.#options = options;
    this.#askedTo = options.speechFrom;
    this.#decoded = { from: options.from, to: options.from };
  }

  /** Speech goes on at `stretch.to`: asks for a partial when one is due. */
  advance(stretch: Stretch): void {
    const { decoder, settings } = this.#options;
    if (!partialDue({ from: this.from, askedTo: this.#askedTo, detectedTo: stretch.to, load: decoder.load }, settings))
      return;
    this.#askedTo = stretch.to;
    this.#dropWaiting();
    if (this.#partial === null) void this.#decodePartial(stretch);
    else this.#waiting = stretch;
  }

  /** Whether the final decode of this stretch is under way. */
  isSpeculating(stretch: Stretch): boolean {
    return this.#eager?.to === stretch.to;
  }

  /** Speech seems to be over: begins the final decode. */
  speculate(stretch: Stretch): void {
    this.#dropWaiting();
    const samples = this.#options.audio.slice(this.from, stretch.to);
    const controller = new AbortController();
    const result = this.#decode('eager', samples, controller.signal);
    this.#eager = { to: stretch.to, samples, controller, result };
    void result.then(({ decoded }) => {
      this.#take(decoded, { from: this.from, to: stretch.to }, stretch);
      if (decoded.ok && !this.#finished && this.isSpeculating(stretch)) this.#options.onEager?.(decoded.text, stretch);
    });
  }

  /** Speech was not over: the eager decode is of no use as a final. */
  resume(): void {
    this.#eager?.controller.abort();
    this.#eager = null;
  }

  /**
   * The utterance is over: resolves with its final text, or null when it was closed meanwhile. The audio is taken at
   * once, so the ring may move on.
   */
  async finish(stretch: Stretch): Promise<Outcome | null> {
    this.#finished = true;
    this.#partial?.abort();
    this.#dropWaiting();
    if (this.#eager?.to !== stretch.to) this.resume();
    const samples = this.#eager?.samples ?? this.#options.audio.slice(this.from, stretch.to);
    const early = await this.#eager?.result;
    if (early?.decoded.ok) {
      if (this.#life.signal.aborted) return null;
      return this.#outcome('eager', early.decoded, stretch.to, { decode: timesOf(early, early.decoded), failures: 0 });
    }
    if (early !== undefined) this.#failures++;
    return this.#decodeFinal(samples, stretch.to);
  }

  /** Gives up all that is under way; the outcome is the last hypothesis. */
  abandon(): Outcome {
    this.close();
    return this.#fallBack();
  }

  /** Gives up all that is under way. */
  close(): void {
    this.#finished = true;
    this.#waiting = null;
    this.#partial?.abort();
    this.#eager?.controller.abort();
    this.#life.abort();
  }

  async #decodePartial(stretch: Stretch): Promise<void> {
    const { audio, decoder, settings } = this.#options;
    const window = partialWindow({ from: this.from, decodedTo: this.#decoded.to, to: stretch.to }, settings);
    const draft = window.from === this.#decoded.from ? this.#draft : NO_DRAFT;
    const controller = new AbortController();
    this.#partial = controller;
    const decoded = await decoder.decode('partial', {
      ...draft,
      ...(window.from === this.from && { stream: this.#stream }),
      samples: audio.slice(window.from, window.to),
      signal: controller.signal,
    });
    this.#partial = null;
    if (!this.#take(decoded, window, stretch) && !this.#finished) this.#options.onPartialDropped();
    const next = this.#waiting;
    this.#waiting = null;
    if (next !== null) void this.#decodePartial(next);
  }

  /** Takes a hypothesis. Returns false if the decode failed or came too late to matter. */
  #take(decoded: Decoded, window: Window, stretch: Stretch): boolean {
    if (!decoded.ok || this.#finished || window.to <= this.#decoded.to) return false;
    this.#decoded = window;
    this.#draft = decoded.draft;
    this.#options.onHypothesis(this.#agreement.add(decoded.text, window.from === this.from), stretch);
    return true;
  }

  /** The reading so far for another recogniser than has made it; its own final is as it is without. */
  get #otherDraft(): Draft {
    const isWhole = this.#decoded.from === this.from;
    return isWhole && this.#draft.draftBy !== undefined ? { ...this.#draft, draft: [] } : NO_DRAFT;
  }

  async #decode(purpose: DecodePurpose, samples: Int16Array, signal: AbortSignal): Promise<Timed> {
    const { decoder, clock } = this.#options;
    const askedMs = clock.nowMs();
    const decoded = await decoder.decode(purpose, { ...this.#otherDraft, samples, stream: this.#stream, signal });
    return { decoded, askedMs, answeredMs: clock.nowMs() };
  }

  #outcome(
    how: FinalHow,
    { text, ...known }: GoodText,
    decodedTo: number,
    found: Pick<Outcome, 'decode' | 'failures'>,
  ): Outcome {
    const { logprobs, sureness, language, guess, isFallback, late, words } = known;
    const hypothesis = this.#agreement.finish(text);
    return { how, hypothesis, logprobs, sureness, language, guess, isFallback, late, words, decodedTo, ...found };
  }

  #fallBack(): Outcome {
    const { text } = this.#agreement.current;
    const nothing = { logprobs: null, sureness: null, language: null, guess: null, late: null, words: undefined };
    const known = { ...nothing, text, isFallback: false };
    return this.#outcome('fallback', known, this.#decoded.to, { decode: null, failures: this.#failures });
  }

  async #decodeFinal(samples: Int16Array, to: number): Promise<Outcome | null> {
    const { signal } = this.#life;
    const backoff = newRetryBackoff();
    for (let failures = 1; !signal.aborted; failures++) {
      const timed = await this.#decode('final', samples, signal);
      if (signal.aborted) break;
      const { decoded } = timed;
      if (decoded.ok)
        return this.#outcome('fresh', decoded, to, { decode: timesOf(timed, decoded), failures: this.#failures });
      this.#failures++;
      if (failures >= (this.#agreement.current.text === '' ? GIVE_UP_FAILURES : FALLBACK_FAILURES))
        return this.#fallBack();
      await pause(this.#options.clock, backoff.next(0), signal);
    }
    return null;
  }

  #dropWaiting(): void {
    if (this.#waiting !== null) this.#options.onPartialDropped();
    this.#waiting = null;
  }
}

function timesOf({ askedMs, answeredMs }: Timed, { cost }: DecodedText): TimedDecode {
  return { askedMs, answeredMs, cost };
}
