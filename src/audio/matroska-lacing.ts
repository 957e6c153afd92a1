/** The frames in a block of Matroska (RFC 9559 §10): one, or several laced. */
import { readVariableInt } from './ebml.ts';

/** After the number of the track: two bytes of time, one of flags. */
const TIME_AND_FLAGS_BYTES = 3;
const LACING_BITS = 0x06;
const XIPH = 0x02;
const FIXED_SIZE = 0x04;
/** What a byte of 255 in a size of Xiph's means: another one follows. */
const XIPH_MORE = 255;

interface Sizes {
  /** Of all frames but the last. */
  readonly sizes: readonly number[];
  /** Where the first one begins. */
  readonly from: number;
}

/**
 * The frames of a block, which is given from behind the number of its track.
 * @throws RangeError for a block whose frames do not fit in it
 */
export function framesOfBlock(block: Uint8Array): Uint8Array[] {
  if (block.length < TIME_AND_FLAGS_BYTES)
    throw new RangeError(`got a block of ${block.length} bytes, expected ${TIME_AND_FLAGS_BYTES} or more`);
  const lacing = (block[TIME_AND_FLAGS_BYTES - 1] as number) & LACING_BITS;
  const content = block.subarray(TIME_AND_FLAGS_BYTES);
  if (lacing === 0) return [content];
  const [countLess1] = content;
  if (countLess1 === undefined) throw wrong('no number of frames');
  if (lacing === FIXED_SIZE) return cutEvenly(content.subarray(1), countLess1 + 1);
  const laced = content.subarray(1);
  return cut(laced, lacing === XIPH ? xiphSizes(laced, countLess1) : ebmlSizes(laced, countLess1));
}

function cutEvenly(frames: Uint8Array, count: number): Uint8Array[] {
  const size = frames.length / count;
  if (!Number.isInteger(size)) throw wrong(`${frames.length} bytes for ${count} frames of one size`);
  return Array.from({ length: count }, (_, at) => frames.subarray(at * size, (at + 1) * size));
}

function cut(laced: Uint8Array, { sizes, from }: Sizes): Uint8Array[] {
  const frames: Uint8Array[] = [];
  let at = from;
  for (const size of sizes) {
    if (size < 0 || at + size > laced.length) throw wrong(`a frame of ${size} bytes in ${laced.length - at}`);
    frames.push(laced.subarray(at, at + size));
    at += size;
  }
  return [...frames, laced.subarray(at)];
}

/** RFC 9559 §10.3.2. */
function xiphSizes(laced: Uint8Array, count: number): Sizes {
  const sizes: number[] = [];
  let at = 0;
  while (sizes.length < count) {
    let size = 0;
    let byte: number;
    do {
      byte = byteOf(laced, at++);
      size += byte;
    } while (byte === XIPH_MORE);
    sizes.push(size);
  }
  return { sizes, from: at };
}

/** The first size, then how much each differs from the one before (RFC 9559 §10.3.3). */
function ebmlSizes(laced: Uint8Array, count: number): Sizes {
  const sizes: number[] = [];
  let at = 0;
  while (sizes.length < count) {
    const next = readVariableInt(laced.subarray(at));
    if (next === null) throw wrong('an end within the sizes');
    const before = sizes.at(-1);
    sizes.push(before === undefined ? next.value : before + next.value - (2 ** (7 * next.length - 1) - 1));
    at += next.length;
  }
  return { sizes, from: at };
}

function byteOf(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw wrong('an end within the sizes');
  return byte;
}

function wrong(what: string): RangeError {
  return new RangeError(`got ${what} in a laced block, expected frames that fill it`);
}
