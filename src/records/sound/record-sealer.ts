/**
 * What makes a payload safe on disk: a checksum, or with a key AES-256-GCM (NIST SP 800-38D). A sealed payload is 12
 * random bytes, the ciphertext, 16 bytes of tag. The record's head and its number in the file are sealed with it, so a
 * record that was changed, moved or left out is found.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { TrunklineError } from '../../foundation/errors.ts';
import { type RecordHead, refuseDamaged, type SoundHeader, writeHeader, writeRecordHead } from './sound-format.ts';
import { fileKey, type SoundKey } from './sound-key.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CRC_BYTES = 4;

/** Seals and opens the payloads of one file. */
export interface RecordSealer {
  /** The whole record: head and payload. `number` counts the file's records from 0. */
  seal(head: Omit<RecordHead, 'payloadBytes'>, number: number, content: Uint8Array): Buffer;
  /** @throws TrunklineError `sound_damaged` when it is not what was sealed */
  open(head: RecordHead, number: number, payload: Buffer): Buffer;
}

/**
 * The sealer of the file that begins with `header`.
 * @throws TrunklineError `sound_locked` when the file needs another key than `key`
 */
export function sealerOf(header: SoundHeader, key: SoundKey | null): RecordSealer {
  if (header.keyId === null) return CHECKSUMS;
  if (key?.id === header.keyId) return new GcmSealer(fileKey(key, writeHeader(header), header.salt));
  throw new TrunklineError(
    'sound_locked',
    `the sound of this call was encrypted with the key ${header.keyId}, but RECORD_KEY is ` +
      `${key === null ? 'not set' : `the key ${key.id}`}; start with the RECORD_KEY of that time to hear it`,
  );
}

/** Of a file that is not encrypted. */
export const CHECKSUMS: RecordSealer = {
  seal: (head, _number, content) => {
    const payload = Buffer.alloc(content.length + CRC_BYTES);
    payload.set(content);
    payload.writeUInt32LE(crc32(content), content.length);
    return joined(head, payload);
  },
  open: (_head, _number, payload) => {
    const contentBytes = payload.length - CRC_BYTES;
    if (contentBytes < 0) refuseDamaged('a record is too short');
    const content = payload.subarray(0, contentBytes);
    if (payload.readUInt32LE(contentBytes) !== crc32(content)) refuseDamaged('the checksum of a record is wrong');
    return content;
  },
};

class GcmSealer implements RecordSealer {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  seal(head: Omit<RecordHead, 'payloadBytes'>, number: number, content: Uint8Array): Buffer {
    const payloadBytes = NONCE_BYTES + content.length + TAG_BYTES;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(boundTo({ ...head, payloadBytes }, number));
    const sealed = [nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()];
    return joined(head, Buffer.concat(sealed, payloadBytes));
  }

  open(head: RecordHead, number: number, payload: Buffer): Buffer {
    if (payload.length < NONCE_BYTES + TAG_BYTES) refuseDamaged('a record is too short');
    const tagAt = payload.length - TAG_BYTES;
    const decipher = createDecipheriv(CIPHER, this.#key, payload.subarray(0, NONCE_BYTES))
      .setAAD(boundTo(head, number))
      .setAuthTag(payload.subarray(tagAt));
    try {
      return Buffer.concat([decipher.update(payload.subarray(NONCE_BYTES, tagAt)), decipher.final()]);
    } catch {
      return refuseDamaged('a record was changed, moved or left out');
    }
  }
}

function boundTo(head: RecordHead, number: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUIntLE(number, 0, 6);
  return Buffer.concat([writeRecordHead(head), bytes]);
}

function joined(head: Omit<RecordHead, 'payloadBytes'>, payload: Buffer): Buffer {
  return Buffer.concat([writeRecordHead({ ...head, payloadBytes: payload.length }), payload]);
}
