import { frameBytes } from '../../audio/frames.ts';
import { decodeG711 } from '../../audio/g711.ts';
import { type Codec, FRAME_MS } from '../../foundation/units.ts';

interface SentFrame {
  readonly bytes: Uint8Array;
  /** When it begins to sound at the caller, by the clock. */
  readonly atMs: number;
}

/**
 * What a caller hears of what is sent. Frames are sent ahead and may be taken back, so each is told when its time is
 * over, and only then.
 */
export class HeardSound {
  readonly #codec: Codec;
  readonly #onHeard: (samples: Int16Array, atMs: number) => void;
  /** Sent and not over yet: what carriers buffer, a second or so. */
  #frames: SentFrame[] = [];
  #isOn = false;

  /** `onHeard` gets the samples of a frame, and when it began to sound, by the clock. */
  constructor(codec: Codec, onHeard: (samples: Int16Array, atMs: number) => void) {
    this.#codec = codec;
    this.#onHeard = onHeard;
  }

  /** Whether anybody wants to know; at first not. */
  get isOn(): boolean {
    return this.#isOn;
  }

  set isOn(isOn: boolean) {
    this.#isOn = isOn;
    if (!isOn) this.#frames = [];
  }

  /** Whole frames were sent that begin to sound `lagMs` behind `atMs` of the clock. */
  sent(bytes: Uint8Array, atMs: number, lagMs: number): void {
    if (!this.#isOn) return;
    const size = frameBytes(this.#codec);
    for (let at = 0; at < bytes.length; at += size)
      this.#frames.push({ bytes: bytes.subarray(at, at + size), atMs: atMs + lagMs + (at / size) * FRAME_MS });
  }

  /** The last `frames` of those sent will not be heard. */
  takenBack(frames: number): void {
    this.#frames.splice(Math.max(this.#frames.length - frames, 0));
  }

  /** Tells the frames that are over at `nowMs`. */
  release(nowMs: number): void {
    let over = 0;
    for (const { bytes, atMs } of this.#frames) {
      if (atMs + FRAME_MS > nowMs) break;
      over++;
      this.#onHeard(decodeG711(bytes, this.#codec), atMs);
    }
    if (over > 0) this.#frames.splice(0, over);
  }
}
