/**
 * Arrays of numbers as NumPy archives them: a zip file of `.npy` files.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, APPNOTE.TXT 6.3.10 of PKWARE
 */
import { inflateRawSync } from 'node:zlib';

const END_SIGNATURE = 0x0605_4b50;
const ENTRY_SIGNATURE = 0x0201_4b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const COMMENT_MAX_BYTES = 65_535;
const ENTRIES_MAX = 1000;
const STORED = 0;
const DEFLATED = 8;
const NPY_MAGIC = Buffer.from('\x93NUMPY', 'latin1');

/** Where an array lies in an archive. */
export interface NpzEntry {
  /** Without `.npy`. */
  readonly name: string;
  readonly method: number;
  /** Of the packed bytes. */
  readonly from: number;
  readonly packedBytes: number;
}

/**
 * The arrays of an archive.
 * @throws Error for what is no such archive
 */
export function listNpz(archive: Buffer): NpzEntry[] {
  const end = findEnd(archive);
  const count = archive.readUInt16LE(end + 10);
  if (count > ENTRIES_MAX) throw new Error(`the archive has ${count} files, expected at most ${ENTRIES_MAX}`);
  const entries: NpzEntry[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let i = 0; i < count; i++) {
    if (at + ENTRY_BYTES > archive.length || archive.readUInt32LE(at) !== ENTRY_SIGNATURE)
      throw new Error('the list of the archive is damaged');
    const nameBytes = archive.readUInt16LE(at + 28);
    const file = archive.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    if (file.endsWith('.npy')) entries.push(entryAt(archive, at, file.slice(0, -4)));
    at += ENTRY_BYTES + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

function entryAt(archive: Buffer, at: number, name: string): NpzEntry {
  const packedBytes = archive.readUInt32LE(at + 20);
  const local = archive.readUInt32LE(at + 42);
  if (local + LOCAL_BYTES > archive.length) throw new Error(`${name} lies outside of the archive`);
  const from = local + LOCAL_BYTES + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  if (from + packedBytes > archive.length) throw new Error(`${name} lies outside of the archive`);
  return { name, method: archive.readUInt16LE(at + 10), from, packedBytes };
}

function findEnd(archive: Buffer): number {
  const first = Math.max(archive.length - END_BYTES - COMMENT_MAX_BYTES, 0);
  for (let at = archive.length - END_BYTES; at >= first; at--)
    if (archive.readUInt32LE(at) === END_SIGNATURE) return at;
  throw new Error('expected a zip archive');
}

/**
 * The 32-bit numbers of an array of at most `maxBytes`.
 * @throws Error for another kind of array
 */
export function readNpz(
  archive: Buffer,
  { name, method, from, packedBytes }: NpzEntry,
  maxBytes: number,
): Float32Array {
  const packed = archive.subarray(from, from + packedBytes);
  if (method !== STORED && method !== DEFLATED) throw new Error(`${name} is packed in an unknown way (${method})`);
  const bytes = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: maxBytes });
  if (bytes.length < 10 || !bytes.subarray(0, 6).equals(NPY_MAGIC)) throw new Error(`${name} is no array of NumPy's`);
  const isFirstVersion = bytes.readUInt8(6) === 1;
  const headerAt = isFirstVersion ? 10 : 12;
  const dataAt = headerAt + (isFirstVersion ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8));
  const header = bytes.toString('latin1', headerAt, Math.min(dataAt, headerAt + 256));
  if (!/'descr': *'<f4'/.test(header) || !/'fortran_order': *False/.test(header))
    throw new Error(`${name}: expected 32-bit numbers, row by row`);
  return toFloats(bytes.subarray(dataAt, Math.min(bytes.length, dataAt + maxBytes)));
}

/** Little-endian 32-bit numbers. */
export function toFloats(bytes: Buffer): Float32Array {
  return Float32Array.from({ length: Math.floor(bytes.length / 4) }, (_, i) => bytes.readFloatLE(4 * i));
}
