/**
 * Text that only holders of a secret can read or make: sealed with AES-256-GCM (NIST SP 800-38D), whose tag is compared
 * in constant time. What is sealed needs no store: whoever has the secret can open it.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class SealedText {
  readonly #key: Buffer;

  /**
   * @param secret what the key is made from (HKDF, RFC 5869); empty = a key that ends with this process
   * @param purpose of what is sealed: what one purpose has sealed no other one opens
   */
  constructor(secret: string, purpose: string) {
    this.#key = secret === '' ? randomBytes(32) : Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  }

  /** `text` as letters, digits, `-` and `_`, {@link sealedChars} of them; each time others. */
  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return sealed.toString('base64url');
  }

  /** The text that {@link seal} was given; null = nobody with this secret has sealed `sealed`. */
  open(sealed: string): string | null {
    const bytes = Buffer.from(sealed, 'base64url');
    // The same bytes may be written in several ways, and what is used once must not be used again in another one.
    if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== sealed) return null;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      return null;
    }
  }
}

/** How long {@link SealedText.seal} makes a text of so many bytes. */
export function sealedChars(textBytes: number): number {
  return Math.ceil(((NONCE_BYTES + textBytes + TAG_BYTES) * 4) / 3);
}
