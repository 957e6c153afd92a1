/**
 * The directory of a zip file, as far as Python wheels use the format: stored or deflated files below 4 GiB. APPNOTE
 * 6.3.10, 4.3: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */

/** An archive that cannot be read. `message` says what is wrong with it. */
export class ArchiveError extends Error {}

/** A file in a zip file. */
export interface ZipEntry {
  /** As the archive says; never used as a path. */
  readonly path: string;
  readonly method: 'stored' | 'deflated';
  /** Bytes in the archive, and unpacked. */
  readonly packedBytes: number;
  readonly bytes: number;
  /** Where its local header begins. */
  readonly headerAt: number;
}

/** The end record and the longest comment behind it, in bytes: so much of the file's end is searched for it. */
export const ZIP_END_MAX_BYTES = 22 + 65_535;

/** A local header without name and extra field, in bytes. */
export const ZIP_LOCAL_BYTES = 30;

/** Largest directory, in bytes: some 100,000 files. */
const DIRECTORY_MAX_BYTES = 16_000_000;

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const FLAG_ENCRYPTED = 1;
const ZIP64 = 0xffffffff;

/**
 * Where the directory is, from the end of a file of `fileBytes`.
 * @throws ArchiveError
 */
export function findZipDirectory(tail: Buffer, fileBytes: number): { readonly at: number; readonly bytes: number } {
  for (let at = tail.length - END_BYTES; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END_SIGNATURE || tail.readUInt16LE(at + 20) !== tail.length - at - END_BYTES)
      continue;
    const found = { bytes: tail.readUInt32LE(at + 12), at: tail.readUInt32LE(at + 16) };
    if (found.at === ZIP64 || found.bytes === ZIP64) throw new ArchiveError('it is a zip file of more than 4 GiB');
    if (found.bytes > DIRECTORY_MAX_BYTES || found.at + found.bytes > fileBytes - (tail.length - at))
      throw new ArchiveError('its directory is outside of the file');
    return found;
  }
  throw new ArchiveError('it is not a whole zip file: its end is missing');
}

/**
 * The files that a directory lists.
 * @throws ArchiveError
 */
export function readZipDirectory(directory: Buffer): ZipEntry[] {
  const entries: ZipEntry[] = [];
  for (let at = 0; at < directory.length; ) {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY_SIGNATURE)
      throw new ArchiveError('its directory is damaged');
    const nameBytes = directory.readUInt16LE(at + 28);
    const path = directory.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    const method = directory.readUInt16LE(at + 10);
    const isReadable = (directory.readUInt16LE(at + 8) & FLAG_ENCRYPTED) === 0 && (method === 0 || method === 8);
    if (isReadable && !path.endsWith('/')) {
      entries.push({
        path,
        method: method === 0 ? 'stored' : 'deflated',
        packedBytes: directory.readUInt32LE(at + 20),
        bytes: directory.readUInt32LE(at + 24),
        headerAt: directory.readUInt32LE(at + 42),
      });
    }
    at += ENTRY_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

/**
 * Bytes from the beginning of a local header to its file's data.
 * @throws ArchiveError
 */
export function zipDataOffset(localHeader: Buffer): number {
  if (localHeader.length < ZIP_LOCAL_BYTES || localHeader.readUInt32LE(0) !== LOCAL_SIGNATURE)
    throw new ArchiveError('one of its files is damaged');
  return ZIP_LOCAL_BYTES + localHeader.readUInt16LE(26) + localHeader.readUInt16LE(28);
}
