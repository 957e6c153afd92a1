/**
 * Reads the files in archives one after the other: Python wheels (zip), npm packages (gzipped tar) and bundles (tar).
 * What comes out has no name in the file system: nothing is ever written to a path that an archive names.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createGunzip, createInflateRaw } from 'node:zlib';
import { readTarHeader, TAR_BLOCK_BYTES, tarPadding } from './tar-format.ts';
import {
  ArchiveError,
  findZipDirectory,
  readZipDirectory,
  ZIP_END_MAX_BYTES,
  ZIP_LOCAL_BYTES,
  type ZipEntry,
  zipDataOffset,
} from './zip-format.ts';

/** A file in an archive or a folder. */
export interface Entry {
  /** As the archive or the folder calls it. */
  readonly path: string;
  /** As the archive announces it. */
  readonly bytes: number;
  /**
   * Its bytes, at most as many as announced. To be read before the next entry, or not at all.
   * @throws ArchiveError; errors of the disk and of zlib
   */
  read(): AsyncIterable<Uint8Array>;
}

/** What a file is by its first bytes. */
export type ArchiveKind = 'zip' | 'gzip' | 'tar';

/** Unpacked bytes that one archive may give, as a multiple of its own: a bomb gives thousands of times its size. */
const RATIO_MAX = 100;
const ENTRIES_MAX = 100_000;

/** The kind of the archive at `path`; null = it is none. @throws errors of the disk */
export async function archiveKind(path: string): Promise<ArchiveKind | null> {
  const file = await open(path);
  try {
    const head = await readAt(file, 0, TAR_BLOCK_BYTES);
    if (head.length >= 4 && head.readUInt32LE(0) === 0x04034b50) return 'zip';
    if (head.length >= 2 && head.readUInt16BE(0) === 0x1f8b) return 'gzip';
    return head.length === TAR_BLOCK_BYTES && head.toString('latin1', 257, 262) === 'ustar' ? 'tar' : null;
  } finally {
    await file.close();
  }
}

/** The files in the archive at `path`, which is of `kind` and has `bytes`. @throws ArchiveError; errors of the disk */
export function entriesOf(path: string, kind: ArchiveKind, bytes: number): AsyncGenerator<Entry> {
  const budget = new Budget(bytes * RATIO_MAX);
  return kind === 'zip' ? zipEntries(path, bytes, budget) : tarEntries(chunksOf(path, kind, budget));
}

/** Bytes that an archive may still give. */
class Budget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new ArchiveError(`it unpacks to more than ${RATIO_MAX} times its size`);
  }
}

async function* zipEntries(path: string, fileBytes: number, budget: Budget): AsyncGenerator<Entry> {
  const file = await open(path);
  try {
    const tailBytes = Math.min(fileBytes, ZIP_END_MAX_BYTES);
    const directory = findZipDirectory(await readAt(file, fileBytes - tailBytes, tailBytes), fileBytes);
    const entries = readZipDirectory(await readAt(file, directory.at, directory.bytes));
    if (entries.length > ENTRIES_MAX) throw new ArchiveError(`it has more than ${ENTRIES_MAX} files`);
    for (const entry of entries)
      yield { path: entry.path, bytes: entry.bytes, read: () => readZipEntry(path, file, entry, budget) };
  } finally {
    await file.close();
  }
}

async function* readZipEntry(
  path: string,
  file: FileHandle,
  { headerAt, packedBytes, method, bytes }: ZipEntry,
  budget: Budget,
): AsyncGenerator<Uint8Array> {
  if (packedBytes === 0) return;
  const start = headerAt + zipDataOffset(await readAt(file, headerAt, ZIP_LOCAL_BYTES));
  const packed = createReadStream(path, { start, end: start + packedBytes - 1 });
  const unpacked = method === 'stored' ? packed : packed.pipe(createInflateRaw());
  packed.on('error', (error) => unpacked.destroy(error));
  yield* limited(unpacked, bytes, budget);
  packed.destroy();
}

async function* limited(chunks: AsyncIterable<Buffer>, bytes: number, budget: Budget): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const chunk of chunks) {
    left -= chunk.length;
    if (left < 0) throw new ArchiveError('one of its files is longer than announced');
    budget.take(chunk.length);
    yield chunk;
  }
}

async function* chunksOf(path: string, kind: 'gzip' | 'tar', budget: Budget): AsyncGenerator<Buffer> {
  const packed = createReadStream(path);
  const chunks: AsyncIterable<Buffer> = kind === 'tar' ? packed : packed.pipe(createGunzip());
  if (chunks !== packed) packed.on('error', (error) => (chunks as ReturnType<typeof createGunzip>).destroy(error));
  try {
    for await (const chunk of chunks) {
      budget.take(chunk.length);
      yield chunk;
    }
  } finally {
    packed.destroy();
  }
}

async function* tarEntries(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Entry> {
  const reader = new BlockReader(chunks);
  try {
    for (let entries = 0; ; entries++) {
      if (entries > ENTRIES_MAX) throw new ArchiveError(`it has more than ${ENTRIES_MAX} files`);
      const block = await reader.block();
      const header = block === null ? null : readTarHeader(block);
      if (header === null) return;
      const { path, bytes, isFile } = header;
      reader.begin(bytes);
      if (isFile) yield { path, bytes, read: () => reader.rest() };
      await reader.skipRest();
      await reader.skip(tarPadding(bytes));
    }
  } finally {
    await chunks.return(undefined);
  }
}

/** Cuts a stream into tar's blocks and files. */
class BlockReader {
  readonly #chunks: AsyncGenerator<Buffer>;
  #held: Buffer = Buffer.alloc(0);
  /** Bytes of the present file that are still to come. */
  #left = 0;

  constructor(chunks: AsyncGenerator<Buffer>) {
    this.#chunks = chunks;
  }

  /** The next header; null = the stream has ended. */
  async block(): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    for (let missing = TAR_BLOCK_BYTES; missing > 0; ) {
      const part = await this.#take(missing);
      if (part === null) return null;
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  begin(bytes: number): void {
    this.#left = bytes;
  }

  /** The bytes of the present file that nobody has read. */
  async *rest(): AsyncGenerator<Uint8Array> {
    while (this.#left > 0) {
      const part = await this.#take(this.#left);
      if (part === null) throw new ArchiveError('it ends too early');
      this.#left -= part.length;
      yield part;
    }
  }

  async skipRest(): Promise<void> {
    for await (const _ of this.rest());
  }

  async skip(bytes: number): Promise<void> {
    this.#left = bytes;
    await this.skipRest();
  }

  /** At least one and at most `bytes` bytes; null = the stream has ended. */
  async #take(bytes: number): Promise<Buffer | null> {
    if (this.#held.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return null;
      this.#held = next.value;
    }
    const part = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(part.length);
    return part;
  }
}

/** Fewer bytes only at the end of the file. */
async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  let length = 0;
  while (length < bytes) {
    const { bytesRead } = await file.read(buffer, length, bytes - length, at + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}
