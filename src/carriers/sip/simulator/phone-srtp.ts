/**
 * A phone's SRTP: AES in counter mode and HMAC-SHA1 with a tag of 10 bytes, written from RFC 3711 once more and packet
 * by packet, so that each side tests the other. RTCP is not secured: a phone here sends none.
 */
import { createCipheriv, createHmac, randomBytes } from 'node:crypto';

const HEADER_BYTES = 12;
const TAG_BYTES = 10;
const KEY_BYTES = 16;
const SALT_BYTES = 14;
const SUITE = 'AES_CM_128_HMAC_SHA1_80';
const SEQUENCES = 0x1_0000;

/** Master key and salt, 30 bytes. */
export type PhoneKey = Uint8Array;

/** A new key. */
export function newPhoneKey(): PhoneKey {
  return randomBytes(KEY_BYTES + SALT_BYTES);
}

/** `a=crypto` of an offer or answer. */
export function cryptoLine(key: PhoneKey): string {
  return `a=crypto:1 ${SUITE} inline:${Buffer.from(key).toString('base64')}`;
}

/** The key in a description; null = it has none of the suite. */
export function readPhoneKey(sdp: string): PhoneKey | null {
  const [, text] = new RegExp(`^a=crypto:\\d+ ${SUITE} inline:([A-Za-z0-9+/=]+)`, 'm').exec(sdp) ?? [];
  return text === undefined ? null : Buffer.from(text, 'base64');
}

/** One direction of a call. */
export class PhoneSrtp {
  readonly #key: Uint8Array;
  readonly #salt: Uint8Array;
  readonly #authentication: Uint8Array;
  #wraps = 0;
  #last = -1;

  constructor(master: PhoneKey) {
    const derive = (label: number, bytes: number): Buffer => {
      const iv = Buffer.alloc(KEY_BYTES);
      iv.set(master.subarray(KEY_BYTES));
      iv[7] = (iv[7] ?? 0) ^ label;
      return createCipheriv('aes-128-ctr', master.subarray(0, KEY_BYTES), iv).update(Buffer.alloc(bytes));
    };
    this.#key = derive(0, KEY_BYTES);
    this.#authentication = derive(1, 20);
    this.#salt = derive(2, SALT_BYTES);
  }

  /** A packet as it goes over the line. */
  seal(packet: Uint8Array): Uint8Array {
    const wraps = this.#follow(packet);
    const sealed = Buffer.concat([packet.subarray(0, HEADER_BYTES), this.#crypt(packet, wraps)]);
    return Buffer.concat([sealed, this.#tag(sealed, wraps)]);
  }

  /** The packet in a datagram; null = its tag is wrong. */
  open(datagram: Uint8Array): Uint8Array | null {
    if (datagram.length < HEADER_BYTES + TAG_BYTES) return null;
    const sealed = datagram.subarray(0, -TAG_BYTES);
    const wraps = this.#follow(sealed);
    if (!this.#tag(sealed, wraps).equals(datagram.subarray(-TAG_BYTES))) return null;
    return Buffer.concat([sealed.subarray(0, HEADER_BYTES), this.#crypt(sealed, wraps)]);
  }

  /** How often the sequence number has wrapped at this packet. */
  #follow(packet: Uint8Array): number {
    const sequence = Buffer.from(packet).readUInt16BE(2);
    const ahead = sequence - this.#last;
    if (this.#last >= 0 && ahead < -SEQUENCES / 2) this.#wraps++;
    const isLate = this.#last >= 0 && ahead > SEQUENCES / 2;
    if (!isLate) this.#last = sequence;
    return isLate ? this.#wraps - 1 : this.#wraps;
  }

  #crypt(packet: Uint8Array, wraps: number): Buffer {
    const header = Buffer.from(packet.subarray(0, HEADER_BYTES));
    const iv = Buffer.alloc(KEY_BYTES);
    header.copy(iv, 4, 8, 12);
    iv.writeUInt32BE(wraps, 8);
    header.copy(iv, 12, 2, 4);
    for (const [i, byte] of this.#salt.entries()) iv[i] = (iv[i] ?? 0) ^ byte;
    return createCipheriv('aes-128-ctr', this.#key, iv).update(packet.subarray(HEADER_BYTES));
  }

  #tag(sealed: Uint8Array, wraps: number): Buffer {
    const index = Buffer.alloc(4);
    index.writeUInt32BE(wraps);
    return createHmac('sha1', this.#authentication).update(sealed).update(index).digest().subarray(0, TAG_BYTES);
  }
}
