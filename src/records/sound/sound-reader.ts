/** Reads a file of sound: where its records are, and the samples between any two moments. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import { decodeG711 } from '../../audio/g711.ts';
import type { Codec } from '../../foundation/units.ts';
import { type PlacedRecord, RecordIndex } from './record-index.ts';
import { type RecordSealer, sealerOf } from './record-sealer.ts';
import {
  HEADER_MAX_BYTES,
  RECORD_HEAD_BYTES,
  type RecordKind,
  readHeader,
  readRecordHead,
  refuseDamaged,
  type SoundHeader,
} from './sound-format.ts';
import type { SoundKey } from './sound-key.ts';

/** A call of a week at one record a second and channel has fewer. */
const RECORDS_MAX = 2_000_000;

/** The bytes of a file at `at`; fewer than `length` at its end. */
export type ReadAt = (at: number, length: number) => Buffer;

/** What a file of sound holds. */
export interface SoundLayout {
  readonly header: SoundHeader;
  /** Records of sound. */
  readonly records: RecordIndex;
  /** The call's length, or how far its sound goes where there is no end record. */
  readonly totalSamples: number;
  /** Where the whole records end: behind it is what a dying process left. */
  readonly wholeBytes: number;
  /** The end record; null = the file was not finished. */
  readonly end: PlacedRecord | null;
}

/**
 * Finds the records of a file.
 * @throws TrunklineError `sound_damaged` when it is no file of sound
 */
export function readLayout(readAt: ReadAt): SoundLayout {
  const { header, bytes } = readHeader(readAt(0, HEADER_MAX_BYTES));
  const records = new RecordIndex();
  let totalSamples = 0;
  for (let at = bytes; ; ) {
    const head = readRecordHead(readAt(at, RECORD_HEAD_BYTES));
    if (head === null || records.count >= RECORDS_MAX)
      return { header, records, totalSamples, wholeBytes: at, end: null };
    const payloadAt = at + RECORD_HEAD_BYTES;
    const wholeBytes = payloadAt + head.payloadBytes;
    // Its last byte: a file that was cut off may have the head of a record alone.
    if (head.payloadBytes === 0 || readAt(wholeBytes - 1, 1).length === 0)
      return { header, records, totalSamples, wholeBytes: at, end: null };
    if (head.kind === 'end') {
      const end = { ...head, number: records.count, payloadAt };
      return { header, records, totalSamples: head.startSample, wholeBytes, end };
    }
    records.add(head, payloadAt);
    totalSamples = Math.max(totalSamples, head.startSample + head.samples);
    at = wholeBytes;
  }
}

/** An open file of sound. */
export class SoundReader {
  readonly layout: SoundLayout;
  readonly #readAt: ReadAt;
  readonly #sealer: RecordSealer;
  readonly #codec: Codec;
  /** The last record of each channel: the next read begins where this one ends. */
  readonly #last = new Map<RecordKind, { readonly number: number; readonly samples: Int16Array }>();

  /**
   * `mustBeWhole` = the file was finished, so one that ends without its end record was cut off. `layout` = what
   * {@link readLayout} found in it.
   * @throws TrunklineError `sound_damaged`, `sound_locked`
   */
  constructor(readAt: ReadAt, key: SoundKey | null, mustBeWhole: boolean, layout = readLayout(readAt)) {
    this.layout = layout;
    const { header, end, records } = this.layout;
    this.#readAt = readAt;
    this.#sealer = sealerOf(header, key);
    this.#codec = { name: header.law, rateHz: header.rateHz, channels: 1, bytesPerSample: 1 };
    if (end === null && mustBeWhole) refuseDamaged('its end is missing');
    if (end === null) return;
    this.#content(end);
    if (end.samples !== records.count) refuseDamaged('records are missing');
  }

  /**
   * The samples from `fromSample` on, both channels interleaved: the caller, then what the caller heard. Silence where
   * there is no sound.
   * @throws TrunklineError `sound_damaged`
   */
  read(fromSample: number, count: number): Int16Array {
    const mixed = new Int16Array(2 * count);
    for (const record of this.layout.records.within(fromSample, fromSample + count)) {
      const first = Math.max(record.startSample, fromSample);
      const last = Math.min(record.startSample + record.samples, fromSample + count);
      const samples = this.#samplesOf(record);
      const channel = record.kind === 'caller' ? 0 : 1;
      for (let at = first; at < last; at++)
        mixed[2 * (at - fromSample) + channel] = samples[at - record.startSample] ?? 0;
    }
    return mixed;
  }

  #samplesOf(record: PlacedRecord): Int16Array {
    const last = this.#last.get(record.kind);
    if (last?.number === record.number) return last.samples;
    const content = this.#content(record);
    const samples = decodeG711(record.isDeflated ? inflate(content, record.samples) : content, this.#codec);
    if (samples.length !== record.samples) refuseDamaged('a record has another length than it says');
    this.#last.set(record.kind, { number: record.number, samples });
    return samples;
  }

  #content(record: PlacedRecord): Buffer {
    const payload = this.#readAt(record.payloadAt, record.payloadBytes);
    return this.#sealer.open(record, record.number, payload);
  }
}

function inflate(content: Buffer, samples: number): Buffer {
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(samples, 1) });
  } catch {
    return refuseDamaged('a record cannot be unpacked');
  }
}

/**
 * A file on disk, as {@link ReadAt}; its `stateOf` differs when its bytes do.
 * @throws the system's error, e.g. ENOENT
 */
export function openForReading(path: string): { readonly readAt: ReadAt; stateOf(): string; close(): void } {
  const file = openSync(path, 'r');
  return {
    stateOf: () => {
      const { dev, ino, size, mtimeMs } = fstatSync(file);
      return `${dev} ${ino} ${size} ${mtimeMs}`;
    },
    readAt: (at, length) => {
      const buffer = Buffer.alloc(length);
      return buffer.subarray(0, readSync(file, buffer, 0, length, at));
    },
    close: () => closeSync(file),
  };
}
