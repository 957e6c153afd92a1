/**
 * Collects the bytes that a model consists of. They are known by size and checksum, so it does not matter how a package
 * calls them or where it has them; each is kept under its checksum as soon as it is whole, for the next try too.
 */
import { createReadStream } from 'node:fs';
import { copyFile, link, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolder, PRIVATE_FILE_MODE } from '../foundation/folders/folders.ts';
import type { Entry } from './archives.ts';
import { type CatalogFile, type KnownBytes, keyOf } from './catalog-model.ts';
import { Checksum, type Checksums, isSame } from './checksum.ts';

/** Is told of bytes as they are written. */
export type OnBytes = (bytes: number) => void;

/** The bytes of some files, whole or in pieces, in a folder of their own. */
export class Pieces {
  readonly #folder: string;
  readonly #files: readonly CatalogFile[];
  /** What is there, by {@link keyOf}. */
  readonly #found = new Set<string>();
  /** Names of files that were met with other bytes, which explains what is missing. */
  readonly #others = new Set<string>();

  private constructor(folder: string, files: readonly CatalogFile[]) {
    this.#folder = folder;
    this.#files = files;
  }

  /**
   * The bytes of `files`, of which `folder` may have some from an earlier try.
   * @throws errors of the disk
   */
  static async open(folder: string, files: readonly CatalogFile[]): Promise<Pieces> {
    const pieces = new Pieces(folder, files);
    const known = new Set(files.flatMap((file) => [file, ...(file.pieces ?? [])]).map(keyOf));
    await makeFolder(folder, 0o700);
    for (const name of await readdir(folder)) {
      if (known.has(name)) pieces.#found.add(name);
      else await rm(join(folder, name), { recursive: true, force: true });
    }
    return pieces;
  }

  /** Whether `file` is there, whole or in pieces. */
  has(file: CatalogFile): boolean {
    const { pieces = [] } = file;
    return (
      this.#found.has(keyOf(file)) || (pieces.length > 0 && pieces.every((piece) => this.#found.has(keyOf(piece))))
    );
  }

  /** Whether a file of this name was met that has other bytes. */
  hasMetOther({ path }: CatalogFile): boolean {
    return this.#others.has(basename(path));
  }

  /**
   * Takes what is missing from `entries`, and reads no further when nothing is missing any more.
   * @throws errors of `entries` and of the disk
   */
  async collect(entries: AsyncIterable<Entry>, onBytes: OnBytes): Promise<void> {
    const names = new Set(this.#files.map(({ path }) => basename(path)));
    let missing = this.#missing();
    if (missing.length === 0) return;
    for await (const entry of entries) {
      const isWanted =
        missing.some(({ bytes }) => bytes === entry.bytes) && (await this.#take(entry, missing, onBytes));
      if (!isWanted && names.has(basename(entry.path))) this.#others.add(basename(entry.path));
      if (isWanted) missing = this.#missing();
      if (missing.length === 0) return;
    }
  }

  /** Takes over the file at `path`, whose bytes are those of `file`. @throws errors of the disk */
  async adopt(file: CatalogFile, path: string): Promise<void> {
    await rename(path, join(this.#folder, keyOf(file)));
    this.#found.add(keyOf(file));
  }

  /** Makes `file` at `path`. @throws Error when its pieces, joined, have another checksum; errors of the disk */
  async assemble(file: CatalogFile, path: string): Promise<void> {
    if (this.#found.has(keyOf(file))) {
      const whole = join(this.#folder, keyOf(file));
      // Not moved: it is kept for the next try until the model is in its place.
      await link(whole, path).catch(() => copyFile(whole, path));
      return;
    }
    const from = (file.pieces ?? []).map((piece) => join(this.#folder, keyOf(piece)));
    const joined = await write(chunksOf(from), path, () => undefined);
    if (!isSame(joined, file))
      throw new Error(`${file.path}: joined, its SHA-256 is ${joined.sha256}, expected ${keyOf(file)}`);
  }

  #missing(): KnownBytes[] {
    const files = this.#files.filter((file) => !this.has(file));
    return files.flatMap((file) => [file, ...(file.pieces ?? [])]).filter((known) => !this.#found.has(keyOf(known)));
  }

  async #take(entry: Entry, missing: readonly KnownBytes[], onBytes: OnBytes): Promise<boolean> {
    const draft = join(this.#folder, 'draft');
    const got = await write(entry.read(), draft, onBytes);
    const wanted = missing.find((known) => isSame(got, known));
    if (wanted === undefined) {
      await rm(draft);
      onBytes(-entry.bytes);
      return false;
    }
    await rename(draft, join(this.#folder, keyOf(wanted)));
    this.#found.add(keyOf(wanted));
    return true;
  }
}

/** Writes `chunks` to a new file at `path`, and returns their checksums. @throws errors of both */
async function write(chunks: AsyncIterable<Uint8Array>, path: string, onBytes: OnBytes): Promise<Checksums> {
  const sum = new Checksum();
  const file = await open(path, 'w', PRIVATE_FILE_MODE);
  try {
    for await (const chunk of chunks) {
      sum.add(chunk);
      await file.writeFile(chunk);
      onBytes(chunk.length);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return sum.finish();
}

async function* chunksOf(paths: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const path of paths) yield* createReadStream(path);
}
