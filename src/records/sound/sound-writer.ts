/**
 * Writes the files of sound. It runs on the thread of {@link SoundThread}, and blocks it while the disk is busy: what
 * it has returned from is on disk.
 */

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { encodeG711 } from '../../audio/g711.ts';
import { DiskError } from '../../foundation/folders/disk.ts';
import { PRIVATE_FILE_MODE } from '../../foundation/folders/folders.ts';
import type { Codec } from '../../foundation/units.ts';
import { type RecordSealer, sealerOf } from './record-sealer.ts';
import { RECORD_HEAD_BYTES, type SoundHeader, writeHeader } from './sound-format.ts';
import type { SoundKey } from './sound-key.ts';
import { dayFolder, soundName, unfinishedPath } from './sound-paths.ts';
import { openForReading, readLayout } from './sound-reader.ts';

const PRIVATE_FOLDER_MODE = 0o700;
/** The last of a disk belongs to what is written of calls in words. */
const DISK_RESERVE_BYTES = 67_108_864;
const SALT_BYTES = 32;
/** The lowest level: 1 to 9 differ by two parts in a hundred of the size, and by half in time. */
const DEFLATE_LEVEL = 1;

/** A new file: whose sound it is, and in which form. */
export interface NewSound extends Pick<SoundHeader, 'callId' | 'startedMs' | 'law' | 'rateHz'> {}

/** A stretch of one channel. `startSample` counts from the beginning of the call. */
export interface SoundStretch {
  readonly kind: 'caller' | 'heard';
  readonly startSample: number;
  readonly samples: Int16Array;
}

/** A whole file: whose it is, and its size. */
export interface FinishedSound {
  readonly callId: string;
  readonly startedMs: number;
  readonly bytes: number;
}

/** One file while it is written. */
export class SoundWriter {
  readonly #folder: string;
  readonly #name: string;
  readonly #header: SoundHeader;
  readonly #sealer: RecordSealer;
  readonly #codec: Codec;
  readonly #file: number;
  #bytes: number;
  #records: number;

  /**
   * Makes the file of a new sound under `folder`.
   * @throws DiskError when there is no room; the system's error
   */
  static create(folder: string, sound: NewSound, key: SoundKey | null): SoundWriter {
    checkRoom(folder);
    const { callId, startedMs, law, rateHz } = sound;
    const salt = randomBytes(SALT_BYTES).toString('base64');
    const header = { callId, startedMs, law, rateHz, keyId: key?.id ?? null, salt };
    const path = unfinishedPath(folder, soundName(sound));
    mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER_MODE });
    const file = openSync(path, 'wx', PRIVATE_FILE_MODE);
    try {
      const bytes = writeHeader(header);
      writeAll(file, bytes, 0);
      fdatasyncSync(file);
      syncFolder(dirname(path));
      return new SoundWriter(folder, header, { file, bytes: bytes.length, records: 0, key });
    } catch (error) {
      closeSync(file);
      rmSync(path, { force: true });
      throw error;
    }
  }

  /**
   * Finishes the file `name` that a dying process left, behind its last whole record. One without any sound is removed,
   * and has 0 bytes then.
   * @throws TrunklineError `sound_locked`, `sound_damaged`; the system's error
   */
  static recover(folder: string, name: string, key: SoundKey | null): FinishedSound {
    const path = unfinishedPath(folder, name);
    const reading = openForReading(path);
    try {
      const { header, records, wholeBytes, totalSamples, end } = readLayout(reading.readAt);
      const { callId, startedMs } = header;
      if (records.count === 0 && end === null) {
        rmSync(path, { force: true });
        return { callId, startedMs, bytes: 0 };
      }
      const file = openSync(path, 'r+');
      const bytes = end === null ? wholeBytes : end.payloadAt - RECORD_HEAD_BYTES;
      cutOff(file, bytes);
      return new SoundWriter(folder, header, { file, bytes, records: records.count, key }).finish(totalSamples);
    } finally {
      reading.close();
    }
  }

  private constructor(
    folder: string,
    header: SoundHeader,
    at: { readonly file: number; readonly bytes: number; readonly records: number; readonly key: SoundKey | null },
  ) {
    this.#folder = folder;
    this.#header = header;
    this.#name = soundName(header);
    this.#file = at.file;
    this.#bytes = at.bytes;
    this.#records = at.records;
    this.#codec = { name: header.law, rateHz: header.rateHz, channels: 1, bytesPerSample: 1 };
    this.#sealer = sealerOf(header, at.key);
  }

  /**
   * Adds stretches of sound; those that are silent are left out. Nothing of them is there when it throws. Returns the
   * file's size.
   * @throws DiskError when there is no room; the system's error
   */
  add(stretches: readonly SoundStretch[]): number {
    const records = stretches.filter(({ samples }) => !isSilent(samples));
    if (records.length === 0) return this.#bytes;
    checkRoom(this.#folder);
    this.#append(records.map((stretch, index) => this.#record(stretch, this.#records + index)));
    this.#records += records.length;
    return this.#bytes;
  }

  /**
   * Writes the end of the file and moves it to its day's folder. May be called again when it threw.
   * @throws the system's error
   */
  finish(totalSamples: number): FinishedSound {
    const head = { kind: 'end' as const, isDeflated: false, startSample: totalSamples, samples: this.#records };
    const wholeBytes = this.#bytes;
    this.#append([this.#sealer.seal(head, this.#records, new Uint8Array(0))]);
    const bytes = this.#bytes;
    this.#bytes = wholeBytes;
    const target = dayFolder(this.#folder, this.#name);
    mkdirSync(target, { recursive: true, mode: PRIVATE_FOLDER_MODE });
    renameSync(unfinishedPath(this.#folder, this.#name), join(target, this.#name));
    syncFolder(target);
    closeSync(this.#file);
    return { callId: this.#header.callId, startedMs: this.#header.startedMs, bytes };
  }

  /** Ends the writing and removes the file. */
  discard(): void {
    closeSync(this.#file);
    rmSync(unfinishedPath(this.#folder, this.#name), { force: true });
  }

  #record({ kind, startSample, samples }: SoundStretch, number: number): Buffer {
    const plain = encodeG711(samples, this.#codec);
    const deflated = deflateRawSync(plain, { level: DEFLATE_LEVEL });
    const isDeflated = deflated.length < plain.length;
    const head = { kind, isDeflated, startSample, samples: samples.length };
    return this.#sealer.seal(head, number, isDeflated ? deflated : plain);
  }

  /** A record that was written in part is cut off again: the next one must begin where a reader looks for it. */
  #append(records: readonly Buffer[]): void {
    const bytes = Buffer.concat(records);
    try {
      writeAll(this.#file, bytes, this.#bytes);
      fdatasyncSync(this.#file);
    } catch (error) {
      cutOff(this.#file, this.#bytes);
      throw error;
    }
    this.#bytes += bytes.length;
  }
}

/** A-law has no zero: its silence decodes to 8. */
const SILENCE_MAX = 8;

function isSilent(samples: Int16Array): boolean {
  return samples.every((sample) => sample <= SILENCE_MAX && sample >= -SILENCE_MAX);
}

function writeAll(file: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

function cutOff(file: number, bytes: number): void {
  try {
    ftruncateSync(file, bytes);
  } catch {
    // The next write begins at the same place, and a reader ends where a record is not whole.
  }
}

/** Makes the names in a folder durable, where the system can. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** @throws DiskError when the disk of `folder` has only its reserve left */
export function checkRoom(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < DISK_RESERVE_BYTES) throw new DiskError('ENOSPC');
}
