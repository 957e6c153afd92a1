/**
 * A thread that decodes files: it reads and decodes them, resamples them to 16 kHz, and sends a few seconds for each
 * request. Of each file it has only the output of one push to the decoder in memory, however long the file is.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { openDecoder, PUSH_BYTES, type StretchDecoder } from '../audio/decode.ts';
import { serveWork, type ThreadWork } from '../foundation/workers/worker-thread.ts';
import type { DecodeAnswer, DecodeTask } from './decode-messages.ts';
import { HeldSound } from './held-sound.ts';
import { tooLong, unreadable } from './refusals.ts';

/** Audio in one answer. */
const HANDED_SAMPLES = 5 * ENGINE_RATE_HZ;
/** Bytes of one read from the file. */
const READ_BYTES = 65_536;
/** Most bytes read in one step, so that a file with little audio in many bytes does not delay other files. */
const STEP_BYTES = 1_048_576;

class FileDecoding implements ThreadWork<DecodeAnswer> {
  readonly #task: DecodeTask;
  readonly #file: number;
  readonly #fileBytes: number;
  readonly #decoder: StretchDecoder;
  readonly #buffer = new Uint8Array(READ_BYTES);
  /** The part of the buffer that has not been pushed to the decoder. */
  #unpushed: Uint8Array = new Uint8Array(0);
  readonly #sound: HeldSound;
  #handed = 0;
  #readBytes = 0;
  #isOver = false;

  constructor(task: DecodeTask, file: number, decoder: StretchDecoder) {
    this.#task = task;
    this.#file = file;
    this.#fileBytes = fstatSync(file).size;
    this.#decoder = decoder;
    this.#sound = new HeldSound(task);
  }

  /** @throws TrunklineError `audio_unreadable`, `audio_too_long` */
  next(): DecodeAnswer {
    const stepEnd = this.#readBytes + STEP_BYTES;
    while (this.#sound.samples < HANDED_SAMPLES && !this.#isOver && this.#readBytes < stepEnd) this.#decodeOn();
    if (this.#sound.samples < HANDED_SAMPLES && !this.#isOver) return { kind: 'none' };
    const channels = this.#sound.take(HANDED_SAMPLES);
    const length = channels[0]?.length ?? 0;
    this.#handed += length;
    if (this.#handed > this.#task.maxSeconds * ENGINE_RATE_HZ) throw tooLong(this.#task.maxSeconds);
    if (length > 0)
      return { kind: 'audio', channels, share: Math.min(this.#readBytes / Math.max(this.#fileBytes, 1), 1) };
    if (this.#handed === 0) throw unreadable('it contains no audio');
    return { kind: 'end' };
  }

  close(): void {
    this.#decoder.close();
    closeSync(this.#file);
  }

  #decodeOn(): void {
    const bytes = this.#nextBytes();
    if (bytes.length > 0) {
      this.#sound.add(this.#decoder.push(bytes));
      return;
    }
    this.#isOver = true;
    this.#sound.add(this.#decoder.flush());
    this.#sound.finish();
  }

  /** The file's next bytes, copied because decoders keep what they cannot use yet. Empty at the end. */
  #nextBytes(): Uint8Array {
    if (this.#unpushed.length === 0)
      this.#unpushed = this.#buffer.subarray(0, readSync(this.#file, this.#buffer, 0, READ_BYTES, null));
    const bytes = this.#unpushed.slice(0, PUSH_BYTES[this.#task.kind]);
    this.#unpushed = this.#unpushed.subarray(bytes.length);
    this.#readBytes += bytes.length;
    return bytes;
  }
}

serveWork<DecodeTask, DecodeAnswer>({
  async begin(task) {
    const file = openSync(task.path, 'r');
    try {
      return new FileDecoding(task, file, await openDecoder(task.kind, fstatSync(file).size));
    } catch (error) {
      closeSync(file);
      throw error;
    }
  },
  transfer: (answer) =>
    answer.kind === 'audio' ? answer.channels.map((samples) => samples.buffer as ArrayBuffer) : [],
});
