import type { Interruptible } from './barge-in.ts';
import { heardPart } from './heard-text.ts';
import type { UtterancePiece } from './utterance-pieces.ts';

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

/** A piece on its way to the caller. */
export interface VoiceSound extends UtterancePiece {
  readonly utterance: SpokenUtterance;
  readonly durationMs: number;
}

/** What is to be said, and how it behaves towards others. */
export interface SpokenUtteranceOptions {
  readonly id: string;
  /** Its pieces in order; to be given up when the signal aborts. */
  pieces(signal: AbortSignal): AsyncIterable<UtterancePiece> | Iterable<UtterancePiece>;
  /** What it says, as far as that is known. */
  text(): string;
  /** Memory that it holds while it waits. */
  heldBytes(): number;
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

  /** Its pieces, made as they are asked for. */
  pieces(): AsyncIterable<UtterancePiece> | Iterable<UtterancePiece> {
    return this.options.pieces(this.#life.signal);
  }

  /** Sends one of its pieces on its way, `durationMs` long. */
  dispatch(piece: UtterancePiece, durationMs: number): VoiceSound {
    const sound = { ...piece, utterance: this, durationMs };
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
      this.#heardText += heardPart(sound.text, ms >= sound.durationMs ? 1 : ms / sound.durationMs);
      if (ms < sound.durationMs) break;
    }
    const interrupted = !this.played;
    this.#underWay = [];
    this.#life.abort();
    const heardText = interrupted ? this.#heardText.trimEnd() : this.#heardText;
    return { utterance: this.id, text: this.options.text(), heardText, playedMs: Math.round(this.#heardMs) };
  }
}
