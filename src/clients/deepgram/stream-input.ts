/**
 * The audio of a client as the session reads it: raw audio, WAV and Opus at once, and what other codecs have compressed
 * when a decoder has read it. One message at a time is decoded, and no more while the session is full.
 */
import { interleave } from '../../audio/mix.ts';
import { samplesToPcm16 } from '../../audio/pcm.ts';
import type { StreamDecoders } from '../../recordings/streams/stream-decoders.ts';
import type { StreamDecoding } from '../../recordings/streams/stream-decoding.ts';
import { streamKindOf } from '../../recordings/streams/stream-kind.ts';
import { AudioInput, type ReadFormat } from './wire/audio-input.ts';
import type { DeepgramAudio } from './wire/listen-query.ts';

const DECODED_HZ = 16_000;

interface StreamInputOptions {
  /** Null = its first bytes say what it is. */
  readonly audio: DeepgramAudio | null;
  /** Whether each channel is read by itself. */
  readonly multichannel: boolean;
  readonly decoders: Pick<StreamDecoders, 'open'>;
  /** Audio of {@link StreamInput.format}, in the parts in which it is to be read. */
  onAudio(parts: readonly Uint8Array[]): void;
  /** A decoder works: nothing is to be pushed, and no order to be followed, until it is done. */
  onBusy(isBusy: boolean): void;
  onFailed(error: unknown): void;
}

/** See above. */
export class StreamInput {
  readonly #options: StreamInputOptions;
  readonly #plain: AudioInput;
  #format: ReadFormat | null = null;
  /** What has come before the format is known; null = it is. */
  #head: Uint8Array | null;
  #decoding: StreamDecoding | null = null;
  #isFull = false;
  #isClosed = false;
  #resume: () => void = () => undefined;

  constructor(options: StreamInputOptions) {
    this.#options = options;
    this.#plain = new AudioInput(options.audio, options.multichannel);
    this.#head = options.audio === null ? new Uint8Array(0) : null;
  }

  /** Of the audio that is told. */
  get format(): ReadFormat {
    return this.#format ?? this.#plain.format;
  }

  /**
   * The client's next bytes.
   * @throws TrunklineError `audio_unreadable` for a file that is not read; of one that a decoder reads `onFailed` tells
   */
  push(bytes: Uint8Array): void {
    if (this.#decoding !== null) this.#feed(this.#decoding, bytes);
    else if (this.#head === null) this.#options.onAudio(this.#plain.push(bytes));
    else {
      this.#head = Buffer.concat([this.#head, bytes]);
      this.#begin(this.#head, false);
    }
  }

  /** Whether the session wants no more for now. */
  setFull(isFull: boolean): void {
    this.#isFull = isFull;
    if (!isFull) this.#resume();
  }

  /** No more comes. Resolves when the last audio has been told. @throws TrunklineError `audio_unreadable` */
  async end(): Promise<void> {
    if (this.#head !== null && this.#head.length > 0) this.#begin(this.#head, true);
    await this.#decoding?.end();
  }

  /** Gives up at once. */
  close(): void {
    this.#isClosed = true;
    this.#decoding?.close();
    this.#resume();
  }

  #begin(head: Uint8Array, isAll: boolean): void {
    const kind = streamKindOf(head, isAll);
    if (kind === undefined) return;
    this.#head = null;
    if (kind === null) {
      this.#options.onAudio(this.#plain.push(head));
      return;
    }
    const { decoders, multichannel } = this.#options;
    const channels = multichannel ? 'split' : 'mix';
    this.#decoding = decoders.open({ kind, channels, onSound: (sound) => this.#tell(sound) });
    this.#feed(this.#decoding, head);
  }

  #feed(decoding: StreamDecoding, bytes: Uint8Array): void {
    const { onBusy, onFailed } = this.#options;
    onBusy(true);
    decoding.push(bytes).then(
      () => onBusy(false),
      (error: unknown) => onFailed(error),
    );
  }

  async #tell(channels: readonly Int16Array[]): Promise<void> {
    if (this.#isClosed) return;
    this.#format ??= { encoding: 'linear16', rateHz: DECODED_HZ, channels: channels.length };
    this.#options.onAudio([samplesToPcm16(interleave(channels))]);
    while (this.#isFull && !this.#isClosed)
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
      });
  }
}
