/** Makes small ELF files, for tests of what reads them. */

/** What a made file says of itself. */
export interface MadeElf {
  readonly needed: readonly string[];
  readonly runPath?: string;
  /** 62 = x64. */
  readonly machine?: number;
  /** Bytes behind everything, e.g. text of the program. */
  readonly text?: string;
}

const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const SECTION_BYTES = 64;
/** Addresses differ from places in the file, as they do in real ones. */
const BASE_ADDRESS = 0x1000;

/** A shared library with nothing but its head. */
export function makeElf({ needed, runPath = '', machine = 62, text = '' }: MadeElf): Buffer {
  const names = [...needed, ...(runPath === '' ? [] : [runPath])];
  const starts = names.map((_, index) => 1 + names.slice(0, index).reduce((sum, name) => sum + name.length + 1, 0));
  const strings = Buffer.from(`\0${names.map((name) => `${name}\0`).join('')}`);
  const dynamicAt = HEADER_BYTES + 2 * SEGMENT_BYTES;
  const entries = [
    ...needed.map((_, index) => [1, starts[index] ?? 0]),
    ...(runPath === '' ? [] : [[29, starts[needed.length] ?? 0]]),
    [5, 0],
    [10, strings.length],
    [0, 0],
  ];
  const stringsAt = dynamicAt + entries.length * 16;
  const strtab = entries[entries.length - 3] as number[];
  strtab[1] = BASE_ADDRESS + stringsAt;
  const dynamic = Buffer.concat(entries.map(([tag = 0, value = 0]) => words(tag, value)));
  const body = Buffer.concat([dynamic, strings, Buffer.from(text)]);
  const bodyEnd = dynamicAt + body.length;
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('\u007fELF', 0, 'latin1');
  header.set([2, 1, 1], 4);
  header.writeUInt16LE(3, 16);
  header.writeUInt16LE(machine, 18);
  header.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  header.writeBigUInt64LE(BigInt(bodyEnd), 40);
  header.writeUInt16LE(SEGMENT_BYTES, 54);
  header.writeUInt16LE(2, 56);
  header.writeUInt16LE(SECTION_BYTES, 58);
  header.writeUInt16LE(1, 60);
  const load = segment(1, 0, BASE_ADDRESS, bodyEnd);
  const table = segment(2, dynamicAt, BASE_ADDRESS + dynamicAt, dynamic.length);
  return Buffer.concat([header, load, table, body, Buffer.alloc(SECTION_BYTES)]);
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), index * 8);
  return bytes;
}

function segment(type: number, offset: number, address: number, bytes: number): Buffer {
  const kind = Buffer.alloc(8);
  kind.writeUInt32LE(type, 0);
  return Buffer.concat([kind, words(offset, address, address, bytes, bytes, 0x1000)]);
}
