/** Comparisons of secrets, signatures and passwords, whose time tells a stranger nothing. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether the two are the same. Hashes have one length, so the time does not tell that of `expected` either. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hashOf(given), hashOf(expected));
}

/** Whether `text` is one of `others`. It is compared with every one of them, so the time does not tell which. */
export function isOneOfSecrets(text: string, others: readonly string[]): boolean {
  return others.map((other) => isSameSecret(text, other)).includes(true);
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
