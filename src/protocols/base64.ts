/**
 * Base64 as RFC 4648 §4 has it. Node's own decoder skips whatever does not belong there; on a wire that would shift
 * every sample after it.
 */

/** Decodes canonical, padded base64; null when `text` is anything else. */
export function decodeBase64(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64');
  // Encoding again is the cheapest complete check: both ways run in native code.
  return bytes.toString('base64') === text ? bytes : null;
}

/** Encodes with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
