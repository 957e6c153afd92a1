/**
 * Twilio's playback of a stream: a buffer that plays at the speed of the codec, and marks that are told when reached.
 */
import { type Codec, msToBytes } from '../foundation/units.ts';

/**
 * The playback buffer of one stream (https://www.twilio.com/docs/voice/media-streams/websocket-messages: media, mark,
 * clear). It counts bytes and does not keep them.
 */
export class PlaybackBuffer {
  readonly #codec: Codec;
  readonly #marks: { readonly name: string; readonly atBytes: number }[] = [];
  #receivedBytes = 0;
  #playedBytes = 0;

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  /** More audio to play, after all that came before. */
  append(bytes: number): void {
    this.#receivedBytes += bytes;
  }

  /**
   * A mark behind the audio received so far. Returns the marks reached: this one at once if nothing is left to play
   * before it.
   */
  mark(name: string): string[] {
    this.#marks.push({ name, atBytes: this.#receivedBytes });
    return this.#reached();
  }

  /** Plays for `durationMs`, or as long as there is audio. Returns the marks reached, in order. */
  advance(durationMs: number): string[] {
    this.#playedBytes = Math.min(this.#receivedBytes, this.#playedBytes + msToBytes(durationMs, this.#codec));
    return this.#reached();
  }

  /**
   * Throws the audio away. Returns the marks that were still pending, in order: a carrier tells them as if they had
   * been reached.
   */
  clear(): string[] {
    this.#playedBytes = this.#receivedBytes;
    return this.#reached();
  }

  #reached(): string[] {
    const pending = this.#marks.findIndex((mark) => mark.atBytes > this.#playedBytes);
    return this.#marks.splice(0, pending === -1 ? this.#marks.length : pending).map((mark) => mark.name);
  }
}
