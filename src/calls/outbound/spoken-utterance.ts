import type { JobCost } from '../../../engine/contract.ts';
import type { PromptOrigin } from '../../speech/prompt-maker.ts';
import type { Interruptible } from './barge-in.ts';
import { heardPart } from './heard-text.ts';
import type { UtteranceContent, UtterancePiece } from './utterance-pieces.ts';

/**
 * A sound that is still being made is taken for so many times as long as usual: what is said of it must not be more
 * than what was heard.
 */
const LONGEST_SHARE = 3;
/** The same where that much has been made already. */
const LONGER_SHARE = 1.5;

/**
 * What a caller heard of an utterance. `heardText` = the beginning of `text` in whole words, `playedMs` = how long it
 * sounded.
 */
export interface HeardUtterance {
  readonly utterance: string;
  readonly text: string;
  readonly heardText: string;
  readonly playedMs: number;
}

/** What is to be said, and how it behaves towards others. */
interface SpokenUtteranceOptions extends UtteranceContent {
  readonly id: string;
  readonly interruptible: Interruptible;
  /** Whether whatever is said next cuts it off. */
  readonly preemptible: boolean;
  /** Whether anybody is told of it; keys are pressed in silence. */
  readonly announced: boolean;
}

/** One thing that is said, from its asking to its end. */
export class SpokenUtterance {
  readonly options: SpokenUtteranceOptions;
  /** All its pieces have been made. */
  made = false;
  /** It has begun to sound. */
  begun = false;
  /** When the caller begins to hear it, in ms of the call; null = it has not begun, or was taken back before that. */
  startMs: number | null = null;
  /** When it was over for the caller, in ms of the call. */
  endMs = 0;
  /** When it was asked for; null = something else was said before it, or nothing is known of it yet. */
  askedAtMs: number | null = null;
  readonly #life = new AbortController();
  /** Its sounds on their way, in order. */
  #underWay: VoiceSound[] = [];
  #heardText = '';
  #heardMs = 0;

  constructor(options: SpokenUtteranceOptions) {
    this.options = options;
  }

  get id(): string {
    return this.options.id;
  }

  /** Whether it was cut off, or was heard to its end. */
  get over(): boolean {
    return this.#life.signal.aborted;
  }

  /** Whether nothing of it is still to be heard. */
  get played(): boolean {
    return this.made && this.#underWay.length === 0;
  }

  /** The sound of it that is the next to be heard. */
  get nextSound(): VoiceSound | undefined {
    return this.#underWay[0];
  }

  /** Its sounds on their way, in order. */
  get sounds(): readonly VoiceSound[] {
    return this.#underWay;
  }

  /** Its pieces, made as they are asked for. */
  pieces(): AsyncIterable<UtterancePiece> | Iterable<UtterancePiece> {
    return this.options.pieces(this.#life.signal);
  }

  /** Sends one of its pieces on its way, which was asked for at `askedMs` on the clock. */
  dispatch(piece: UtterancePiece, askedMs: number): VoiceSound {
    const sound = new VoiceSound(this, piece, askedMs);
    this.#underWay.push(sound);
    return sound;
  }

  /** The first of its sounds was heard to its end. */
  noteHeard(sound: VoiceSound): void {
    this.#underWay.shift();
    this.#heardText += sound.text;
    this.#heardMs += sound.durationMs;
  }

  /** Ends it: nothing more is made. `heardMs` tells how much of a sound on its way was heard. */
  end(heardMs: (sound: VoiceSound) => number): HeardUtterance {
    for (const sound of this.#underWay) {
      const ms = heardMs(sound);
      this.#heardMs += ms;
      this.#heardText += sound.textUntil(ms);
      if (ms < sound.durationMs) break;
    }
    const interrupted = !this.played;
    this.#underWay = [];
    this.#life.abort();
    const heardText = interrupted ? this.#heardText.trimEnd() : this.#heardText;
    return { utterance: this.id, text: this.options.text(), heardText, playedMs: Math.round(this.#heardMs) };
  }
}

/** What became of a sentence, and when, in ms on the clock. */
export interface SentenceReport {
  /** The utterance that it is of, as the API named it. */
  readonly utterance: string;
  readonly from: PromptOrigin['from'];
  /** Of the engine's work for it; null = there was none. */
  readonly cost: JobCost | null;
  /** The engine failed before its end. */
  readonly isFailed: boolean;
  readonly askedMs: number;
  /** When the first of it was made; null = it never was. */
  readonly firstMs: number | null;
  /** When it began to be played; null = it never was. */
  readonly begunMs: number | null;
  /** When it had been heard, or was cut off. */
  readonly overMs: number;
  /** How much of it was made, and heard. */
  readonly madeMs: number;
  readonly heardMs: number;
  /** It was cut off before its end. */
  readonly isInterrupted: boolean;
}

/** A piece of an utterance on its way to the caller. Its sound grows until it has ended. */
export class VoiceSound {
  readonly utterance: SpokenUtterance;
  readonly digit: string | undefined;
  /** When it was asked for, when the first of it was made, and when it began to be played, in ms on the clock. */
  readonly askedMs: number;
  firstMs: number | null = null;
  begunMs: number | null = null;
  readonly #piece: UtterancePiece;
  #text: string;
  #durationMs = 0;
  #hasEnded = false;

  constructor(utterance: SpokenUtterance, piece: UtterancePiece, askedMs: number) {
    this.utterance = utterance;
    this.askedMs = askedMs;
    this.digit = piece.digit;
    this.#piece = piece;
    this.#text = piece.text;
  }

  /** What it says. */
  get text(): string {
    return this.#text;
  }

  /** The sentence that it is; undefined = it is none. */
  get sentence(): Pick<SentenceReport, 'from' | 'cost' | 'isFailed'> | undefined {
    const { origin, isCut = false } = this.#piece;
    return origin && { from: origin.from, cost: origin.cost, isFailed: isCut };
  }

  /** How much of it has been made. */
  get durationMs(): number {
    return this.#durationMs;
  }

  /** So much more of it has been made. */
  grow(durationMs: number): void {
    this.#durationMs += durationMs;
  }

  /** Nothing more comes. One that is not `isWhole` says no more than what was made of it. */
  end(isWhole: boolean): void {
    if (!isWhole || this.#piece.isCut === true) this.#text = this.textUntil(this.#durationMs);
    this.#hasEnded = true;
  }

  /** What it has said after `heardMs`, in whole words. */
  textUntil(heardMs: number): string {
    if (this.#hasEnded) return heardPart(this.#text, heardMs >= this.#durationMs ? 1 : heardMs / this.#durationMs);
    const usualMs = this.#piece.usualMs ?? 0;
    const longestMs = Math.max(usualMs * LONGEST_SHARE, this.#durationMs * LONGER_SHARE);
    return heardMs === 0 ? '' : heardPart(this.#text, heardMs / longestMs);
  }
}
