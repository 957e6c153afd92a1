/**
 * Keys of SRTP (RFC 3711): suites as session descriptions name them (RFC 4568 §6.2), session keys from a master key
 * (§4.3), and the key stream of AES in counter mode (§4.1.1).
 */
import { type Cipher, createCipheriv, createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** Bytes of a master key and of a master salt. */
export const SRTP_KEY_BYTES = 16;
export const SRTP_SALT_BYTES = 14;
const AUTH_KEY_BYTES = 20;
const BLOCK_BYTES = 16;

/** Bytes of the tag behind each RTP packet. That of RTCP has always 10 (RFC 4568 §6.2.1 and §6.2.2). */
const TAG_BYTES = { AES_CM_128_HMAC_SHA1_80: 10, AES_CM_128_HMAC_SHA1_32: 4 } as const;
const CONTROL_TAG_BYTES = 10;

/** How packets are secured. */
export type SrtpSuite = keyof typeof TAG_BYTES;
/** All suites, the stronger one first. */
export const SRTP_SUITES: readonly SrtpSuite[] = ['AES_CM_128_HMAC_SHA1_80', 'AES_CM_128_HMAC_SHA1_32'];

/** The master key of one direction. It is secret: keep it out of logs and errors. */
export interface SrtpKey {
  readonly suite: SrtpSuite;
  /** 16 bytes. */
  readonly key: Uint8Array;
  /** 14 bytes. */
  readonly salt: Uint8Array;
  /** What the sender writes before each tag to name the key (MKI); empty = nothing. */
  readonly identifier: Uint8Array;
}

/** Labels of the key derivation (§4.3.1); for RTCP they are 3 more. */
const LABELS = { cipher: 0, authentication: 1, salt: 2 } as const;
const CONTROL_LABEL_OFFSET = 3;

/** One kind of key of a session: `bytes` of it, under the label (§4.3.1, with a derivation rate of 0). */
export function deriveSrtpKey({ key, salt }: Pick<SrtpKey, 'key' | 'salt'>, label: number, bytes: number): Uint8Array {
  const iv = Buffer.alloc(BLOCK_BYTES);
  iv.set(salt);
  iv[7] = (iv[7] ?? 0) ^ label;
  return createCipheriv('aes-128-ctr', key, iv).update(Buffer.alloc(bytes));
}

/** What secures the packets of one direction and kind. */
export class SessionKeys {
  readonly tagBytes: number;
  readonly #cipher: Cipher;
  readonly #salt: DataView;
  readonly #authentication: KeyObject;
  /** The counters of one packet, encrypted at once. */
  #counters = Buffer.alloc(0);

  /** The keys for RTP, or with `isControl` for RTCP. */
  constructor(master: SrtpKey, isControl: boolean) {
    const offset = isControl ? CONTROL_LABEL_OFFSET : 0;
    const cipherKey = deriveSrtpKey(master, LABELS.cipher + offset, SRTP_KEY_BYTES);
    const salt = new Uint8Array(BLOCK_BYTES);
    salt.set(deriveSrtpKey(master, LABELS.salt + offset, SRTP_SALT_BYTES));
    this.tagBytes = isControl ? CONTROL_TAG_BYTES : TAG_BYTES[master.suite];
    this.#salt = new DataView(salt.buffer);
    this.#authentication = createSecretKey(deriveSrtpKey(master, LABELS.authentication + offset, AUTH_KEY_BYTES));
    // One cipher for all packets: counter mode is this one on counters, and a new cipher costs more than a packet.
    this.#cipher = createCipheriv('aes-128-ecb', cipherKey, null).setAutoPadding(false);
  }

  /** Encrypts or decrypts `bytes` in place; `index` is that of the packet, below 2^48. */
  crypt(bytes: Uint8Array, ssrc: number, index: number): void {
    const stream = this.#stream(Math.ceil(bytes.length / BLOCK_BYTES), ssrc, index);
    for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] ?? 0) ^ (stream[i] ?? 0);
  }

  /** The tag of `parts` in this order. */
  tag(...parts: readonly Uint8Array[]): Uint8Array {
    const hmac = createHmac('sha1', this.#authentication);
    for (const part of parts) hmac.update(part);
    return hmac.digest().subarray(0, this.tagBytes);
  }

  /** The counters begin with salt × 2^16 XOR SSRC × 2^64 XOR index × 2^16, and count in the last 16 bits. */
  #stream(blocks: number, ssrc: number, index: number): Uint8Array {
    if (blocks === 0) return new Uint8Array(0);
    if (this.#counters.length < blocks * BLOCK_BYTES) this.#counters = Buffer.alloc(blocks * BLOCK_BYTES);
    const salt = this.#salt;
    const first = salt.getUint32(0);
    const second = salt.getUint32(4) ^ ssrc;
    const third = salt.getUint32(8) ^ Math.floor(index / 0x1_0000);
    const last = (salt.getUint16(12) ^ (index & 0xffff)) << 16;
    const counters = this.#counters;
    for (let block = 0, at = 0; block < blocks; block++, at += BLOCK_BYTES) {
      counters.writeInt32BE(first | 0, at);
      counters.writeInt32BE(second | 0, at + 4);
      counters.writeInt32BE(third | 0, at + 8);
      counters.writeInt32BE(last | block, at + 12);
    }
    return this.#cipher.update(counters.subarray(0, blocks * BLOCK_BYTES));
  }
}
