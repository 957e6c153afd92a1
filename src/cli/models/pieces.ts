/**
 * Collects the bytes that a model consists of. They are known by size and SHA-256, so it does not matter how a package
 * calls them or where it has them; each is kept under its SHA-256 as soon as it is whole, for the next try too.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, link, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolder, PRIVATE_FILE_MODE } from '../../foundation/folders/folders.ts';
import type { Entry } from './archives.ts';
import type { CatalogFile, KnownBytes } from './catalog.ts';

/** Is told of bytes as they are written. */
export type OnBytes = (bytes: number) => void;

/** The pieces of some files, in a folder of their own. */
export class Pieces {
  readonly #folder: string;
  readonly #missing = new Map<string, number>();
  /** Files of the right name and other bytes, which explain what is missing. */
  readonly #others = new Set<string>();

  private constructor(folder: string, pieces: readonly KnownBytes[]) {
    this.#folder = folder;
    for (const { sha256, bytes } of pieces) this.#missing.set(sha256, bytes);
  }

  /**
   * The pieces of `files`, of which `folder` may have some from an earlier try.
   * @throws errors of the disk
   */
  static async open(folder: string, files: readonly CatalogFile[]): Promise<Pieces> {
    const pieces = new Pieces(folder, files.flatMap(piecesOf));
    await makeFolder(folder, 0o700);
    for (const name of await readdir(folder)) {
      if (!pieces.#missing.delete(name)) await rm(join(folder, name), { recursive: true, force: true });
    }
    return pieces;
  }

  /** Whether every piece of `file` is there. */
  has(file: CatalogFile): boolean {
    return piecesOf(file).every(({ sha256 }) => !this.#missing.has(sha256));
  }

  /** Bytes that are still to be found. */
  get missingBytes(): number {
    return [...this.#missing.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Whether a file of this name was met that has other bytes. */
  hasMetOther({ path }: CatalogFile): boolean {
    return this.#others.has(basename(path));
  }

  /**
   * Takes what is missing from `entries`, and no further one when nothing is missing any more.
   * @throws errors of `entries` and of the disk
   */
  async collect(entries: AsyncIterable<Entry>, files: readonly CatalogFile[], onBytes: OnBytes): Promise<void> {
    const names = new Set(files.map(({ path }) => basename(path)));
    if (this.#missing.size === 0) return;
    for await (const entry of entries) {
      const isWanted = [...this.#missing.values()].includes(entry.bytes) && (await this.#take(entry, onBytes));
      if (!isWanted && names.has(basename(entry.path))) this.#others.add(basename(entry.path));
      if (this.#missing.size === 0) return;
    }
  }

  /** Joins the pieces of `file` at `path`. @throws Error when the whole has another SHA-256; errors of the disk */
  async assemble(file: CatalogFile, path: string): Promise<void> {
    const from = piecesOf(file).map(({ sha256 }) => join(this.#folder, sha256));
    const [first] = from;
    if (from.length === 1 && first !== undefined) {
      // Not moved: the piece is kept for the next try until the model is in its place.
      await link(first, path).catch(() => copyFile(first, path));
      return;
    }
    const sha256 = await write(chunksOf(from), path, () => undefined);
    if (sha256 !== file.sha256)
      throw new Error(`${file.path}: joined, its SHA-256 is ${sha256}, expected ${file.sha256}`);
  }

  async #take(entry: Entry, onBytes: OnBytes): Promise<boolean> {
    const draft = join(this.#folder, 'draft');
    const sha256 = await write(entry.read(), draft, onBytes);
    const isWanted = this.#missing.get(sha256) === entry.bytes;
    if (isWanted) await rename(draft, join(this.#folder, sha256));
    else await rm(draft);
    if (isWanted) this.#missing.delete(sha256);
    else onBytes(-entry.bytes);
    return isWanted;
  }
}

/** The pieces that a file is published in: itself, where it is whole. */
function piecesOf(file: CatalogFile): readonly KnownBytes[] {
  return file.pieces ?? [file];
}

/** Writes `chunks` to a new file at `path`, and returns their SHA-256. @throws errors of both */
async function write(chunks: AsyncIterable<Uint8Array>, path: string, onBytes: OnBytes): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'w', PRIVATE_FILE_MODE);
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      await file.writeFile(chunk);
      onBytes(chunk.length);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

async function* chunksOf(paths: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const path of paths) yield* createReadStream(path);
}
