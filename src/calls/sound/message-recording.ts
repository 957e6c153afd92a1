/**
 * A message that a caller leaves: the caller's sound from a moment on, in a file of its own beside the call's. What is
 * no message after all is never written.
 */
import type { Codec } from '../../foundation/units.ts';
import type { SoundSink } from './sound-tap.ts';

/** Most messages of one call. */
export const MESSAGES_MAX = 20;
/** Held back at most, until it is known that it is a message: more than its longest silence and its shortest length. */
const HELD_MAX_MS = 95_000;

/**
 * Under which id the sound of a call's message is kept. No call has such an id: those have no blanks.
 */
export function messageSoundId(callId: string, message: number): string {
  return `${callId} message-${message}`;
}

/** The call that a sound is a message of; null = it is the sound of a call itself. */
export function callOfMessage(soundId: string): string | null {
  return /^(?<callId>.*) message-\d+$/s.exec(soundId)?.groups?.['callId'] ?? null;
}

interface MessageRecordingOptions {
  readonly codec: Codec;
  /** When it begins, in ms of the call. */
  readonly startMs: number;
  open(): SoundSink;
}

export class MessageRecording {
  readonly startMs: number;
  readonly #options: MessageRecordingOptions;
  #held: { readonly samples: Int16Array; readonly atMs: number }[] = [];
  #heldSamples = 0;
  #sink: SoundSink | null = null;
  #isOver = false;

  constructor(options: MessageRecordingOptions) {
    this.#options = options;
    this.startMs = options.startMs;
  }

  /** The caller's sound, which begins at `atMs` of the call. */
  add(samples: Int16Array, atMs: number): void {
    if (this.#isOver || atMs < this.startMs) return;
    const intoMs = atMs - this.startMs;
    if (this.#sink !== null) {
      this.#sink.add('caller', samples, intoMs);
      return;
    }
    if (this.#heldSamples > (HELD_MAX_MS * this.#options.codec.rateHz) / 1000) return;
    this.#held.push({ samples: samples.slice(), atMs: intoMs });
    this.#heldSamples += samples.length;
  }

  /** It is a message: writes what there is, and what comes. Idempotent. */
  keep(): void {
    if (this.#sink !== null || this.#isOver) return;
    this.#sink = this.#options.open();
    for (const { samples, atMs } of this.#held) this.#sink.add('caller', samples, atMs);
    this.#held = [];
  }

  /** It is over, at `atMs` of the call. Returns whether it was kept. */
  end(atMs: number): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#held = [];
    this.#sink?.end(Math.max(atMs - this.startMs, 0));
    return this.#sink !== null;
  }
}
