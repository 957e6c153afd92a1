/** Checksums of bytes as they come: SHA-256, and CRC-32C (Castagnoli) as RFC 3720, appendix B.4 has it. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { KnownBytes } from './catalog-model.ts';

const POLYNOMIAL = 0x82f63b78;

/** Eight tables, for as many bytes in one step: a byte at a time takes four times as long. */
const TABLES = makeTables();

function makeTables(): readonly Uint32Array[] {
  const tables = Array.from({ length: 8 }, () => new Uint32Array(256));
  const [first = new Uint32Array(0)] = tables;
  for (let byte = 0; byte < 256; byte++) {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? POLYNOMIAL : 0);
    first[byte] = rest;
  }
  for (const [n, table] of tables.entries()) {
    const before = tables[n - 1];
    if (before === undefined) continue;
    for (const [byte, rest] of before.entries()) table[byte] = (rest >>> 8) ^ (first[rest & 0xff] ?? 0);
  }
  return tables;
}

/** @param before the inverted sum of what came before; at first -1 */
function addCrc32c(before: number, chunk: Uint8Array): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
  let sum = before;
  let at = 0;
  for (; at + 8 <= chunk.length; at += 8) {
    const low = sum ^ view.getUint32(at, true);
    const high = view.getUint32(at + 4, true);
    sum =
      (t7[low & 0xff] as number) ^
      (t6[(low >>> 8) & 0xff] as number) ^
      (t5[(low >>> 16) & 0xff] as number) ^
      (t4[low >>> 24] as number) ^
      (t3[high & 0xff] as number) ^
      (t2[(high >>> 8) & 0xff] as number) ^
      (t1[(high >>> 16) & 0xff] as number) ^
      (t0[high >>> 24] as number);
  }
  for (; at < chunk.length; at++) sum = (sum >>> 8) ^ (t0[(sum ^ (chunk[at] as number)) & 0xff] as number);
  return sum;
}

/** The checksums of some bytes, in lower-case hexadecimal. */
export interface Checksums {
  readonly bytes: number;
  readonly sha256: string;
  readonly crc32c: string;
}

/** Sums up bytes as they come. */
export class Checksum {
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #crc32c = -1;

  add(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#crc32c = addCrc32c(this.#crc32c, chunk);
    this.#bytes += chunk.length;
  }

  /** To be asked once, when all bytes have come. */
  finish(): Checksums {
    const crc32c = (~this.#crc32c >>> 0).toString(16).padStart(8, '0');
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex'), crc32c };
  }
}

/** Whether bytes with these checksums are the ones that are known. */
export function isSame(found: Checksums, known: KnownBytes): boolean {
  if (found.bytes !== known.bytes) return false;
  return 'sha256' in known ? found.sha256 === known.sha256 : found.crc32c === known.crc32c;
}

/** The checksums of a file. @throws errors of the disk */
export async function checksumsOf(path: string): Promise<Checksums> {
  const sum = new Checksum();
  for await (const chunk of createReadStream(path)) sum.add(chunk as Buffer);
  return sum.finish();
}

/** SHA-256 of a file, in lower-case hexadecimal. @throws errors of the disk */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
