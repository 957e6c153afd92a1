import { frameBytes, padToFrames } from '../../audio/frames.ts';
import type { Codec } from '../../foundation/units.ts';

/** Where a sound begins on the timeline, in frames, and how it is sent. */
interface PlacedSoundOptions<S> {
  readonly sound: S;
  readonly from: number;
  readonly codec: Codec;
  /** Frames in each message to the carrier. */
  readonly messageFrames: number;
}

/**
 * A sound on the timeline of a playout. It grows until it has ended; then it is padded to whole messages with silence.
 */
export class PlacedSound<S> {
  readonly sound: S;
  readonly from: number;
  begun = false;
  /** When its last frame ends, by the clock; null until all of it was sent. */
  dueMs: number | null = null;
  /** The mark that was sent after it; null = none. */
  mark: string | null = null;
  /** Whether it counts as heard as soon as it is due, without waiting for its mark. */
  confirmed = false;
  readonly #codec: Codec;
  readonly #frameBytes: number;
  readonly #messageFrames: number;
  /** Beyond `#length` there is room to grow. The first part is taken as it is and never written to. */
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;
  #to: number;
  #hasEnded = false;

  constructor({ sound, from, codec, messageFrames }: PlacedSoundOptions<S>) {
    this.sound = sound;
    this.from = from;
    this.#to = from;
    this.#codec = codec;
    this.#frameBytes = frameBytes(codec);
    this.#messageFrames = messageFrames;
  }

  /** Up to where it can be sent: whole messages. */
  get to(): number {
    return this.#to;
  }

  /** Its own frames so far, without the silence behind them. */
  get frames(): number {
    return this.#length / this.#frameBytes;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Adds whole frames at its end. */
  add(bytes: Uint8Array): void {
    if (this.#length === 0) this.#bytes = bytes;
    else this.#append(bytes);
    this.#length += bytes.length;
    this.#to = this.from + Math.floor(this.frames / this.#messageFrames) * this.#messageFrames;
  }

  /** Nothing more comes. */
  end(): void {
    this.#hasEnded = true;
    this.#bytes = padToFrames(this.#bytes.subarray(0, this.#length), this.#codec, this.#messageFrames);
    this.#to = this.from + this.#bytes.length / this.#frameBytes;
  }

  /** The message that begins with the frame at `frame` of the timeline. */
  messageAt(frame: number): Uint8Array {
    const at = (frame - this.from) * this.#frameBytes;
    return this.#bytes.subarray(at, at + this.#messageFrames * this.#frameBytes);
  }

  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(2 * length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#length);
  }
}
