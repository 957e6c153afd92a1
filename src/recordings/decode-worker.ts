/**
 * The thread in which one file is decoded: reads it, decodes it, makes it 16 kHz and hands over a few seconds each time it is asked. It never holds
 * more than that of the audio, however long the file is. Codecs print what they dislike to stderr; whoever starts the thread throws that away.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { openDecoder, PUSH_BYTES, type Stretch, type StretchDecoder } from '../audio/decode.ts';
import { joinSamples, mixDown } from '../audio/mix.ts';
import { Resampler } from '../audio/resample.ts';
import { isDiskTrouble } from '../disk.ts';
import { TrunklineError } from '../errors.ts';
import type { DecodedStretch, DecodeTask, FromDecodeWorker } from './decode-messages.ts';

/** Audio that is handed over at once. */
const HANDED_SAMPLES = 5 * ENGINE_RATE_HZ;

class FileDecoding {
  readonly #task: DecodeTask;
  readonly #file: number;
  readonly #fileBytes: number;
  readonly #decoder: StretchDecoder;
  readonly #buffer: Uint8Array;
  #resamplers: Resampler[] = [];
  #rateHz = 0;
  /** Decoded and not handed over, by channel. */
  #held: Int16Array[] = [];
  #handed = 0;
  #readBytes = 0;
  #isOver = false;

  constructor(task: DecodeTask, file: number, decoder: StretchDecoder) {
    this.#task = task;
    this.#file = file;
    this.#fileBytes = fstatSync(file).size;
    this.#decoder = decoder;
    this.#buffer = new Uint8Array(PUSH_BYTES[task.kind]);
  }

  /** The next audio, all channels of one length; null at the end. @throws TrunklineError `audio_unreadable`, `audio_too_long` */
  next(): DecodedStretch | null {
    while ((this.#held[0]?.length ?? 0) < HANDED_SAMPLES && !this.#isOver) this.#hold(this.#decodeOn());
    const channels = this.#held.map((samples) => samples.slice(0, HANDED_SAMPLES));
    this.#held = this.#held.map((samples) => samples.subarray(HANDED_SAMPLES));
    const length = channels[0]?.length ?? 0;
    this.#handed += length;
    this.#checkLength();
    return length === 0 ? this.#finish() : { channels, share: Math.min(this.#readBytes / Math.max(this.#fileBytes, 1), 1) };
  }

  close(): void {
    this.#decoder.close();
    closeSync(this.#file);
  }

  /** The next 16 kHz audio; no channel where a decoder wants more bytes first. */
  #decodeOn(): Int16Array[] {
    const bytes = readSync(this.#file, this.#buffer, 0, this.#buffer.length, null);
    this.#readBytes += bytes;
    if (bytes > 0) return this.#convert(this.#decoder.push(this.#buffer.slice(0, bytes)));
    this.#isOver = true;
    const last = this.#convert(this.#decoder.flush());
    const rests = this.#resamplers.map((resampler) => resampler.flush());
    return rests.map((rest, channel) => joinSamples([last[channel] ?? new Int16Array(0), rest]));
  }

  #hold(channels: readonly Int16Array[]): void {
    if (channels.length === 0) return;
    this.#held = channels.map((samples, channel) => joinSamples([this.#held[channel] ?? new Int16Array(0), samples]));
  }

  #convert(stretch: Stretch | null): Int16Array[] {
    if (stretch === null) return [];
    const { rateHz, channels } = stretch;
    const kept = this.#task.channels === 'mix' ? [mixDown(channels)] : channels;
    if (this.#rateHz === 0) this.#begin(rateHz, kept.length);
    if (rateHz !== this.#rateHz || kept.length !== this.#resamplers.length) {
      throw new TrunklineError(
        'audio_unreadable',
        'the file cannot be decoded: its sampling rate or number of channels changes on the way',
      );
    }
    return kept.map((samples, channel) => this.#resamplers[channel]?.push(samples) ?? samples);
  }

  #begin(rateHz: number, channels: number): void {
    const { channelsMax } = this.#task;
    if (channels > channelsMax) {
      throw new TrunklineError(
        'audio_unreadable',
        `the file has ${channels} channels, expected at most ${channelsMax} with channels=split`,
      );
    }
    this.#rateHz = rateHz;
    this.#resamplers = Array.from({ length: channels }, () => new Resampler(rateHz, ENGINE_RATE_HZ));
  }

  #checkLength(): void {
    const { maxSeconds } = this.#task;
    if (this.#handed > maxSeconds * ENGINE_RATE_HZ) {
      throw new TrunklineError(
        'audio_too_long',
        `the file holds more than ${maxSeconds} s of audio, which is the most allowed (AUDIO_MAX_SECONDS)`,
      );
    }
  }

  #finish(): null {
    if (this.#handed === 0) throw new TrunklineError('audio_unreadable', 'the file cannot be decoded: there is no audio in it');
    return null;
  }
}

async function open(task: DecodeTask): Promise<FileDecoding> {
  const file = openSync(task.path, 'r');
  return new FileDecoding(task, file, await openDecoder(task.kind, fstatSync(file).size));
}

function toFailure(error: unknown): FromDecodeWorker {
  if (error instanceof TrunklineError) return { kind: 'failed', code: error.code, message: error.message };
  if (isDiskTrouble(error)) return { kind: 'failed', code: 'disk_full', message: (error as NodeJS.ErrnoException).code ?? error.message };
  return { kind: 'failed', code: 'internal', message: error instanceof Error ? error.message : String(error) };
}

function answer(message: FromDecodeWorker): void {
  const buffers = message.kind === 'audio' ? message.channels.map((samples) => samples.buffer as ArrayBuffer) : [];
  parentPort?.postMessage(message, buffers);
}

const opening = open(workerData as DecodeTask);
opening.catch(() => undefined);

parentPort?.on('message', () => {
  void opening
    .then((decoding) => {
      const stretch = decoding.next();
      if (stretch !== null) return answer({ kind: 'audio', ...stretch });
      decoding.close();
      answer({ kind: 'end' });
    })
    .catch((error: unknown) => answer(toFailure(error)));
});
