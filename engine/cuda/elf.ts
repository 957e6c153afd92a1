/**
 * The head of an ELF file: which libraries it needs and where it asks for them. Written against the System V ABI
 * (gABI 4.2, chapters 4 and 5) for 64-bit little-endian files, which is what linux/x64 and linux/arm64 have.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** A file that is no ELF file, or not a whole one. `message` says what is wrong with it. */
export class ElfError extends Error {}

/** What the loader reads of a shared library. */
export interface ElfFile {
  readonly machine: 'x64' | 'arm64' | 'other';
  /** DT_NEEDED: names of libraries, in order. */
  readonly needed: readonly string[];
  /** DT_RUNPATH, or DT_RPATH where that is missing: folders, in which `$ORIGIN` is the file's own. */
  readonly runPath: readonly string[];
}

/** Reads `bytes` bytes from `at` on; fewer where the file ends before. */
export type ReadAt = (at: number, bytes: number) => Buffer;

const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const SECTION_BYTES = 64;
const ENTRY_BYTES = 16;
const SEGMENTS_MAX = 256;
const ENTRIES_MAX = 4096;
const STRINGS_MAX_BYTES = 64 * 2 ** 20;
const NAME_MAX_BYTES = 4096;
const MACHINES: ReadonlyMap<number, ElfFile['machine']> = new Map([
  [62, 'x64'],
  [183, 'arm64'],
]);

const SEGMENT_LOAD = 1;
const SEGMENT_DYNAMIC = 2;
const DT_NEEDED = 1;
const DT_STRTAB = 5;
const DT_STRSZ = 10;
const DT_RPATH = 15;
const DT_RUNPATH = 29;

/** The head of the file at `path`. @throws ElfError; errors of the disk */
export function readElf(path: string): ElfFile {
  const file = openSync(path, 'r');
  try {
    return parseElf((at, bytes) => readAt(file, at, bytes), fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, at: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let length = 0;
  while (length < bytes) {
    const got = readSync(file, buffer, length, bytes - length, at + length);
    if (got === 0) break;
    length += got;
  }
  return buffer.subarray(0, length);
}

/** The head of a file of `fileBytes`. @throws ElfError */
export function parseElf(read: ReadAt, fileBytes: number): ElfFile {
  const header = read(0, HEADER_BYTES);
  if (header.length < HEADER_BYTES || header.readUInt32BE(0) !== 0x7f454c46) throw new ElfError('it is no ELF file');
  if (header[4] !== 2 || header[5] !== 1) throw new ElfError('it is no 64-bit little-endian ELF file');
  const sectionsEnd = numberAt(header, 40) + header.readUInt16LE(60) * SECTION_BYTES;
  if (sectionsEnd > fileBytes) throw new ElfError(`it ends after ${fileBytes} bytes, expected ${sectionsEnd}`);
  const segments = readSegments(read, numberAt(header, 32), header.readUInt16LE(56));
  const entries = readDynamic(read, segments);
  const machine = MACHINES.get(header.readUInt16LE(18)) ?? 'other';
  if (entries.length === 0) return { machine, needed: [], runPath: [] };
  const table = readStrings(read, segments, entries);
  const namesOf = (tag: number) =>
    entries.filter((entry) => entry.tag === tag).map(({ value }) => nameAt(table, value));
  const [runPath = namesOf(DT_RPATH)[0] ?? ''] = namesOf(DT_RUNPATH);
  return { machine, needed: namesOf(DT_NEEDED), runPath: runPath.split(':').filter((folder) => folder !== '') };
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly bytes: number;
}

interface DynamicEntry {
  readonly tag: number;
  readonly value: number;
}

function readSegments(read: ReadAt, at: number, count: number): Segment[] {
  if (count > SEGMENTS_MAX) throw new ElfError(`it has ${count} segments, expected at most ${SEGMENTS_MAX}`);
  const table = read(at, count * SEGMENT_BYTES);
  if (table.length < count * SEGMENT_BYTES) throw new ElfError('its table of segments is cut off');
  return Array.from({ length: count }, (_, index) => {
    const segment = table.subarray(index * SEGMENT_BYTES);
    const [offset, address, bytes] = [8, 16, 32].map((field) => numberAt(segment, field)) as [number, number, number];
    return { type: segment.readUInt32LE(0), offset, address, bytes };
  });
}

/** Up to the entry of zeros that ends them. */
function readDynamic(read: ReadAt, segments: readonly Segment[]): DynamicEntry[] {
  const dynamic = segments.find(({ type }) => type === SEGMENT_DYNAMIC);
  if (dynamic === undefined) return [];
  const table = read(dynamic.offset, Math.min(dynamic.bytes, ENTRIES_MAX * ENTRY_BYTES));
  const entries: DynamicEntry[] = [];
  for (let at = 0; at + ENTRY_BYTES <= table.length; at += ENTRY_BYTES) {
    const tag = Number(table.readBigInt64LE(at));
    if (tag === 0) break;
    entries.push({ tag, value: Number(table.readBigUInt64LE(at + 8)) });
  }
  return entries;
}

function readStrings(read: ReadAt, segments: readonly Segment[], entries: readonly DynamicEntry[]): Buffer {
  const entryOf = (wanted: number) => entries.find(({ tag }) => tag === wanted)?.value ?? 0;
  const [address, bytes] = [entryOf(DT_STRTAB), entryOf(DT_STRSZ)];
  if (bytes > STRINGS_MAX_BYTES) throw new ElfError(`its names take ${bytes} bytes`);
  const segment = segments.find(
    (each) => each.type === SEGMENT_LOAD && address >= each.address && address < each.address + each.bytes,
  );
  if (segment === undefined) throw new ElfError('its names are in no segment');
  const table = read(segment.offset + address - segment.address, bytes);
  if (table.length < bytes) throw new ElfError('its names are cut off');
  return table;
}

function nameAt(table: Buffer, at: number): string {
  const end = table.indexOf(0, at);
  if (at >= table.length || end === -1 || end - at > NAME_MAX_BYTES) throw new ElfError('one of its names has no end');
  return table.toString('utf8', at, end);
}

/** @throws ElfError where it is beyond what a file can have */
function numberAt(bytes: Buffer, at: number): number {
  const value = Number(bytes.readBigUInt64LE(at));
  if (!Number.isSafeInteger(value)) throw new ElfError('one of its tables is outside of the file');
  return value;
}
