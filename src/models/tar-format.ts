/**
 * The headers of a tar file, as npm's packages and our bundles have them: POSIX 1003.1 ustar.
 * https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06
 */
import { ArchiveError } from './zip-format.ts';

/** Bytes of a header; files are filled up to a multiple of it. */
export const TAR_BLOCK_BYTES = 512;

/** What a header says of the file behind it. */
export interface TarHeader {
  /** As the archive says; never used as a path. */
  readonly path: string;
  readonly bytes: number;
  /** Whether it is a file; else a folder, a link, or something about the next header. */
  readonly isFile: boolean;
}

const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;
const PATH_MAX_BYTES = 100;

/**
 * Reads one block; null = the end of the archive.
 * @throws ArchiveError
 */
export function readTarHeader(block: Buffer): TarHeader | null {
  if (block.every((byte) => byte === 0)) return null;
  if (octal(block, CHECKSUM_AT, CHECKSUM_BYTES) !== checksumOf(block))
    throw new ArchiveError('it is not a tar file, or is damaged');
  const prefix = block.toString('latin1', 257, 262) === 'ustar' ? textAt(block, 345, 155) : '';
  const name = textAt(block, 0, PATH_MAX_BYTES);
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    bytes: octal(block, 124, 12),
    isFile: block[156] === 0 || block[156] === 0x30,
  };
}

/**
 * The header of a file that its owner alone may read.
 * @throws ArchiveError when `path` does not fit
 */
export function tarHeader(path: string, bytes: number): Buffer {
  const block = Buffer.alloc(TAR_BLOCK_BYTES);
  if (Buffer.byteLength(path) > PATH_MAX_BYTES) throw new ArchiveError(`${path} is too long for a tar file`);
  block.write(path, 0);
  block.write('0000600\0', 100, 'latin1');
  block.write('0000000\0', 108, 'latin1');
  block.write('0000000\0', 116, 'latin1');
  block.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  block.write('00000000000\0', 136, 'latin1');
  block.write('0', 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  block.write(`${checksumOf(block).toString(8).padStart(6, '0')}\0 `, CHECKSUM_AT, 'latin1');
  return block;
}

/** Bytes that fill a file of `bytes` up to whole blocks. */
export function tarPadding(bytes: number): number {
  return (TAR_BLOCK_BYTES - (bytes % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES;
}

/** The sum of all bytes, the checksum's own being taken as spaces. */
function checksumOf(block: Buffer): number {
  let sum = 0;
  for (const [at, byte] of block.entries()) sum += at >= CHECKSUM_AT && at < CHECKSUM_AT + CHECKSUM_BYTES ? 0x20 : byte;
  return sum;
}

function octal(block: Buffer, at: number, length: number): number {
  const text = textAt(block, at, length).trim();
  if (!/^[0-7]{1,11}$/.test(text)) throw new ArchiveError('it is not a tar file, or is damaged');
  return Number.parseInt(text, 8);
}

function textAt(block: Buffer, at: number, length: number): string {
  const end = block.indexOf(0, at);
  return block.toString('utf8', at, end === -1 || end > at + length ? at + length : end);
}
