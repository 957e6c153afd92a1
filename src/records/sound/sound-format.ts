/**
 * The file of a call's sound: a header, then records in the order in which they were written. Each record holds a
 * stretch of one channel as G.711, one byte a sample, deflated where that is shorter; silence has no record. A file
 * only grows, so what was on disk when a process died can be read. A file that was finished has an end record.
 *
 * Header: 8 bytes magic, u32 length, that many bytes of JSON, u32 CRC-32 of all before. Record: 20 bytes head, then its
 * payload. Numbers are little-endian.
 */
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';

const MAGIC = Buffer.from('TKSOUND1', 'latin1');
const HEADER_HEAD_BYTES = 12;
/** A call's id has at most some hundred characters. */
const HEADER_JSON_MAX_BYTES = 4096;
const CRC_BYTES = 4;

/** The head of a record, before its payload. */
export const RECORD_HEAD_BYTES = 20;
/** Most bytes of a payload: what one flush holds, with room. */
export const PAYLOAD_MAX_BYTES = 4_194_304;
/** Most samples of one record. */
export const RECORD_MAX_SAMPLES = 4_000_000;
/** A call of 48 kHz that lasts a year has fewer. */
const POSITION_MAX_SAMPLES = 2 ** 47;

const headerSchema = z.strictObject({
  callId: z.string().min(1).max(400),
  startedMs: z.int().min(0).max(8.64e15),
  law: z.enum(['mulaw', 'alaw']),
  rateHz: z.int().min(4000).max(48_000),
  keyId: z.string().max(64).nullable(),
  salt: z.string().max(64),
});

/** What a file of sound says of itself; `keyId` = which key its records are sealed with, null = none. */
export type SoundHeader = z.infer<typeof headerSchema>;

/** Whose sound a record has; `end` = the file is whole. */
export type RecordKind = 'caller' | 'heard' | 'end';
const KINDS: readonly RecordKind[] = ['caller', 'heard', 'end'];

/**
 * The head of a record. `startSample` counts from the beginning of the call; at the end record it is the call's length,
 * and `samples` the number of records before it.
 */
export interface RecordHead {
  readonly kind: RecordKind;
  readonly isDeflated: boolean;
  readonly startSample: number;
  readonly samples: number;
  readonly payloadBytes: number;
}

/** A file that is no sound of ours, or is broken. @throws TrunklineError `sound_damaged` */
export function refuseDamaged(what: string): never {
  throw new TrunklineError('sound_damaged', `the sound of this call is damaged: ${what}`);
}

/** Writes the header of a new file. */
export function writeHeader(header: SoundHeader): Buffer {
  const json = Buffer.from(JSON.stringify(header), 'utf8');
  const bytes = Buffer.alloc(HEADER_HEAD_BYTES + json.length + CRC_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(json.length, MAGIC.length);
  json.copy(bytes, HEADER_HEAD_BYTES);
  const crcAt = bytes.length - CRC_BYTES;
  bytes.writeUInt32LE(crc32(bytes.subarray(0, crcAt)), crcAt);
  return bytes;
}

/** Enough of a file to read any header. */
export const HEADER_MAX_BYTES = HEADER_HEAD_BYTES + HEADER_JSON_MAX_BYTES + CRC_BYTES;

/**
 * Reads the header at the beginning of `head`, and how many bytes it takes.
 * @throws TrunklineError `sound_damaged`
 */
export function readHeader(head: Buffer): { readonly header: SoundHeader; readonly bytes: number } {
  if (head.length < HEADER_HEAD_BYTES || !head.subarray(0, MAGIC.length).equals(MAGIC))
    refuseDamaged('its file does not begin as one of sound');
  const jsonBytes = head.readUInt32LE(MAGIC.length);
  const crcAt = HEADER_HEAD_BYTES + jsonBytes;
  if (jsonBytes > HEADER_JSON_MAX_BYTES || head.length < crcAt + CRC_BYTES) refuseDamaged('its header is cut off');
  if (head.readUInt32LE(crcAt) !== crc32(head.subarray(0, crcAt))) refuseDamaged('the checksum of its header is wrong');
  return { header: parseHeader(head.toString('utf8', HEADER_HEAD_BYTES, crcAt)), bytes: crcAt + CRC_BYTES };
}

function parseHeader(json: string): SoundHeader {
  try {
    return headerSchema.parse(JSON.parse(json));
  } catch {
    return refuseDamaged('its header has fields that are not known');
  }
}

/** Writes the head of a record, with a checksum of its own. */
export function writeRecordHead({ kind, isDeflated, startSample, samples, payloadBytes }: RecordHead): Buffer {
  const bytes = Buffer.alloc(RECORD_HEAD_BYTES);
  bytes.writeUInt32LE(payloadBytes, 0);
  bytes.writeUInt8(KINDS.indexOf(kind) + 1, 4);
  bytes.writeUInt8(isDeflated ? 1 : 0, 5);
  bytes.writeUIntLE(startSample, 6, 6);
  bytes.writeUInt32LE(samples, 12);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 16)), 16);
  return bytes;
}

/** Reads the head of a record; null when `bytes` begins with none that can be right. */
export function readRecordHead(bytes: Buffer): RecordHead | null {
  if (bytes.length < RECORD_HEAD_BYTES || bytes.readUInt32LE(16) !== crc32(bytes.subarray(0, 16))) return null;
  const kind = KINDS[bytes.readUInt8(4) - 1];
  const packing = bytes.readUInt8(5);
  const head = {
    isDeflated: packing === 1,
    startSample: bytes.readUIntLE(6, 6),
    samples: bytes.readUInt32LE(12),
    payloadBytes: bytes.readUInt32LE(0),
  };
  if (kind === undefined || packing > 1 || head.startSample > POSITION_MAX_SAMPLES) return null;
  if (head.payloadBytes > PAYLOAD_MAX_BYTES || (kind !== 'end' && head.samples > RECORD_MAX_SAMPLES)) return null;
  return { kind, ...head };
}
