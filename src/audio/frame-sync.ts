/**
 * Finds frames of MPEG audio and of AAC in a stream that begins anywhere: radio stations send from where they are. One
 * header may be chance; several, each where the one before says, are not.
 */

/** MPEG audio of layer I to III, or AAC in ADTS. */
export type FrameKind = 'mp3' | 'adts';

/** So many headers in a row are no chance. */
const HEADERS_MIN = 3;
const HEADER_BYTES = 7;

/** ISO 11172-3 §2.4.2.3, ISO 13818-3: steps of 8 kbit/s by layer, of MPEG 1 and of MPEG 2 and 2.5. */
const STEPS = {
  one: [
    [4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56],
    [4, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48],
    [4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40],
  ],
  two: [
    [4, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32],
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20],
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20],
  ],
} as const;
/** By the two bits of the version: 2.5, reserved, 2, 1. */
const RATES_HZ = [[11_025, 12_000, 8000], [], [22_050, 24_000, 16_000], [44_100, 48_000, 32_000]] as const;

/** The kind of the frames in `bytes`, wherever they begin; null = there are not enough of any. */
export function framesOf(bytes: Uint8Array): FrameKind | null {
  for (let at = 0; at + HEADER_BYTES <= bytes.length; at++) {
    if (bytes[at] !== 0xff) continue;
    if (hasFrames(bytes, at, mpegFrameBytes)) return 'mp3';
    if (hasFrames(bytes, at, adtsFrameBytes)) return 'adts';
  }
  return null;
}

function hasFrames(bytes: Uint8Array, from: number, lengthAt: (bytes: Uint8Array, at: number) => number): boolean {
  let at = from;
  for (let found = 0; found < HEADERS_MIN; found++) {
    const length = lengthAt(bytes, at);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/** Length of the frame whose header is there; 0 = there is none, or it does not say. */
function mpegFrameBytes(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return 0;
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const rateHz = RATES_HZ[version]?.[(third >> 2) & 3];
  const steps = STEPS[version === 3 ? 'one' : 'two'][layer - 1]?.[(third >> 4) - 1];
  if (rateHz === undefined || steps === undefined) return 0;
  const kbits = 8 * steps;
  const padding = (third >> 1) & 1;
  if (layer === 1) return (Math.floor((12_000 * kbits) / rateHz) + padding) * 4;
  const bitsPerSample = layer === 3 && version !== 3 ? 72_000 : 144_000;
  return Math.floor((bitsPerSample * kbits) / rateHz) + padding;
}

/** The same of ADTS (ISO 13818-7 §6.2). */
function adtsFrameBytes(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = bytes.subarray(at, at + 6);
  const isRate = ((third >> 2) & 15) <= 12;
  if (first !== 0xff || (second & 0xf6) !== 0xf0 || !isRate) return 0;
  const length = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5);
  return length > HEADER_BYTES ? length : 0;
}
