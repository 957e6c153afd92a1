/**
 * A thread that decodes streams. A piece of a few KB may hold minutes of silence: what is sent for each request is a
 * few seconds.
 */
import { ENGINE_RATE_HZ } from '../../../engine/contract.ts';
import { openDecoder, PUSH_BYTES, type StretchDecoder } from '../../audio/decode.ts';
import { serveWork, type ThreadWork } from '../../foundation/workers/worker-thread.ts';
import { HeldSound } from '../held-sound.ts';
import type { StreamAnswer, StreamPiece, StreamTask } from './stream-messages.ts';

/** Sound in one answer. */
const HANDED_SAMPLES = 2 * ENGINE_RATE_HZ;
/** As many as the decoders take. */
const CHANNELS_MAX = 8;

class StreamWork implements ThreadWork<StreamAnswer, StreamPiece> {
  readonly #pushBytes: number;
  readonly #decoder: StretchDecoder;
  readonly #sound: HeldSound;
  #unread: Uint8Array = new Uint8Array(0);
  #isEnding = false;
  #isOver = false;

  constructor({ kind, channels }: StreamTask, decoder: StretchDecoder) {
    this.#pushBytes = PUSH_BYTES[kind];
    this.#decoder = decoder;
    this.#sound = new HeldSound({ channels, channelsMax: CHANNELS_MAX });
  }

  /** @throws TrunklineError `audio_unreadable` */
  next(piece: StreamPiece | undefined): StreamAnswer {
    if (piece !== undefined) {
      this.#unread = piece.bytes;
      this.#isEnding = piece.isLast;
    }
    while (this.#sound.samples < HANDED_SAMPLES && !this.#isRead) this.#readOn();
    const channels = this.#sound.take(HANDED_SAMPLES);
    return { channels, isAll: this.#isRead && this.#sound.samples === 0 };
  }

  close(): void {
    this.#decoder.close();
  }

  get #isRead(): boolean {
    return this.#unread.length === 0 && (!this.#isEnding || this.#isOver);
  }

  #readOn(): void {
    if (this.#unread.length > 0) {
      // Copied, because decoders keep what they cannot use yet.
      this.#sound.add(this.#decoder.push(this.#unread.slice(0, this.#pushBytes)));
      this.#unread = this.#unread.subarray(this.#pushBytes);
      return;
    }
    this.#isOver = true;
    this.#sound.add(this.#decoder.flush());
    this.#sound.finish();
  }
}

serveWork<StreamTask, StreamAnswer, StreamPiece>({
  begin: async (task) => new StreamWork(task, await openDecoder(task.kind, Number.POSITIVE_INFINITY)),
  transfer: ({ channels }) => channels.map((samples) => samples.buffer as ArrayBuffer),
});
