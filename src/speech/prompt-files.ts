/**
 * Prompts on disk, one file each, in a folder that one gateway uses. A file is written under another name and renamed,
 * so that it is whole or absent. A file that a failing disk or a power cut damaged has a wrong checksum and is ignored.
 */
import { createHash, randomUUID } from 'node:crypto';
import { lstat, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../foundation/clock.ts';
import {
  closeToOthers,
  isOwn,
  makePrivateFolder,
  PRIVATE_FILE_MODE,
  readOwnFile,
} from '../foundation/folders/folders.ts';
import { PinnedLru } from './pinned-lru.ts';
import type { Prompt, PromptAbout } from './prompt.ts';
import type { CachedPrompt } from './prompt-entry.ts';

const MAGIC = Buffer.from('TLP2');
const NAME = /^([0-9a-f]{64})\.sentence$/;
/** What a killed gateway left, and files from before names told the text: nobody would find or forget those. */
const LEFT_OVER = /^[0-9a-f]{64}\.([^.]+\.tmp|prompt)$/;
/** Files that say which gateway uses the folder. */
const OWNERSHIP = /^owner\./;
/** The folder of recorded prompts. */
export const RECORDED_FOLDER = 'recorded';
/**
 * magic, SHA-256 of the key, duration in ms and bytes of sound (both 32 bit, little-endian), SHA-256 of what follows:
 * the sound, then as JSON what it says.
 */
const KEY_AT = MAGIC.length;
const DURATION_AT = KEY_AT + 32;
const LENGTH_AT = DURATION_AT + 4;
const CHECKSUM_AT = LENGTH_AT + 4;
const HEADER_BYTES = CHECKSUM_AT + 32;

/** Most prompts that wait to be written; on a disk that is slower than synthesis, further ones are not kept. */
const WRITES_WAITING_MAX = 64;

/** `damaged`: the file is not what was written; `unreadable`, `unwritable`: the disk fails. */
export type FileTrouble = 'damaged' | 'unreadable' | 'unwritable';

interface PromptFilesOptions {
  readonly directory: string;
  /** Most bytes of all files; the least recently used go first (after a start: the oldest). */
  readonly maxBytes: number;
  onTrouble(trouble: FileTrouble): void;
  onTooManyPinned(): void;
  readonly clock: Pick<Clock, 'wall'>;
}

/** What is known of a file without opening it. */
interface IndexEntry {
  readonly bytes: number;
  readonly madeMs: number;
  usedMs: number;
}

/** The files of one directory. After {@link open} nothing throws: a failing disk delays speech but does not stop it. */
export class PromptFiles {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #onTrouble: (trouble: FileTrouble) => void;
  readonly #clock: Pick<Clock, 'wall'>;
  /** By the name of the prompt. A file that leaves the index is deleted. */
  readonly #index: PinnedLru<IndexEntry>;
  /** The last operation. They run one after the other, so that no two use the same file. */
  #tail: Promise<unknown> = Promise.resolve();
  #writesWaiting = 0;

  constructor(options: PromptFilesOptions) {
    this.#directory = options.directory;
    this.#maxBytes = options.maxBytes;
    this.#onTrouble = options.onTrouble;
    this.#clock = options.clock;
    this.#index = new PinnedLru({
      maxBytes: options.maxBytes,
      // A power cut can leave an empty file, which counts too.
      bytesOf: ({ bytes }) => Math.max(bytes, 1),
      onTooManyPinned: () => options.onTooManyPinned(),
      onGone: (hash) => void this.#queue(() => this.#remove(hash)),
    });
  }

  /** Lists the prompts; other files are left alone. Rejects with the file system's error for an unusable directory. */
  async open(): Promise<void> {
    await makePrivateFolder(this.#directory, isOurs);
    const found: { hash: string; bytes: number; usedAtMs: number }[] = [];
    for (const file of await readdir(this.#directory)) {
      const path = join(this.#directory, file);
      if (LEFT_OVER.test(file)) await rm(path, { force: true });
      const hash = NAME.exec(file)?.[1];
      if (hash === undefined) continue;
      const entry = await lstat(path);
      if (!entry.isFile() || !isOwn(entry)) continue;
      await closeToOthers(path);
      if (entry.size > this.#maxBytes) await rm(path);
      else found.push({ hash, bytes: entry.size, usedAtMs: entry.mtimeMs });
    }
    for (const { hash, bytes, usedAtMs } of found.toSorted((a, b) => a.usedAtMs - b.usedAtMs))
      this.#index.set(hash, { bytes, madeMs: usedAtMs, usedMs: usedAtMs });
    await this.settled();
  }

  /** Bytes of all files. */
  get bytes(): number {
    return this.#index.bytes;
  }

  /** How many prompts there are. */
  get count(): number {
    return this.#index.size;
  }

  /** Whether there is a prompt of that name. */
  has(hash: string): boolean {
    return this.#index.has(hash);
  }

  /** The names of all prompts. */
  names(): string[] {
    return this.#index.names();
  }

  /** Reads the prompt of that name; null when there is none, or it is damaged. */
  read(hash: string): Promise<Prompt | null> {
    if (!this.has(hash)) return Promise.resolve(null);
    this.touch(hash);
    return this.#queue(() => this.#read(hash));
  }

  /** As {@link read}, without counting as a use. */
  peek(hash: string): Promise<Prompt | null> {
    return this.has(hash) ? this.#queue(() => this.#read(hash)) : Promise.resolve(null);
  }

  /** The prompt of that name is used. */
  touch(hash: string): void {
    const entry = this.#index.get(hash);
    if (entry !== undefined) entry.usedMs = this.#clock.wall().getTime();
  }

  /** Those of which `isPinned` is true are deleted last. */
  pin(isPinned: (hash: string) => boolean): void {
    this.#index.pin(isPinned);
  }

  /** When the prompt of that name was made; undefined when there is none. */
  madeMs(hash: string): number | undefined {
    return this.#index.peek(hash)?.madeMs;
  }

  /** The prompts that were used last, at most `max`. */
  list(max: number): CachedPrompt[] {
    return this.#index.latest(max).map(([id, entry]) => ({ id, ...entry }));
  }

  /** Deletes the prompt of that name. Returns whether there was one. */
  delete(hash: string): boolean {
    return this.#index.delete(hash);
  }

  /** Writes a prompt if there is space for it. */
  write(hash: string, prompt: Prompt): void {
    if (HEADER_BYTES + prompt.bytes.length > this.#maxBytes || this.#writesWaiting >= WRITES_WAITING_MAX) return;
    this.#writesWaiting++;
    void this.#queue(() => this.#write(hash, prompt));
  }

  /** Deletes all of them. */
  clear(): void {
    this.#index.clear();
  }

  /** Resolves when all operations so far are done. */
  async settled(): Promise<void> {
    let tail: Promise<unknown>;
    do {
      tail = this.#tail;
      await tail;
    } while (tail !== this.#tail);
  }

  #queue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done;
    return done;
  }

  async #read(hash: string): Promise<Prompt | null> {
    let file: Buffer;
    try {
      file = await readOwnFile(this.#path(hash));
    } catch {
      this.#onTrouble('unreadable');
      this.#index.delete(hash);
      return null;
    }
    const prompt = parse(file, hash);
    if (prompt !== null) return prompt;
    this.#onTrouble('damaged');
    this.#index.delete(hash);
    return null;
  }

  async #write(hash: string, prompt: Prompt): Promise<void> {
    const temporary = join(this.#directory, `${hash}.${randomUUID()}.tmp`);
    try {
      const file = format(hash, prompt);
      await writeFile(temporary, file, { flag: 'wx', mode: PRIVATE_FILE_MODE });
      await rename(temporary, this.#path(hash));
      const nowMs = this.#clock.wall().getTime();
      this.#index.set(hash, { bytes: file.length, madeMs: nowMs, usedMs: nowMs });
    } catch {
      this.#onTrouble('unwritable');
      await rm(temporary, { force: true }).catch(() => undefined);
    } finally {
      this.#writesWaiting--;
    }
  }

  async #remove(hash: string): Promise<void> {
    // It has been written again in the meantime.
    if (this.#index.has(hash)) return;
    await rm(this.#path(hash), { force: true }).catch(() => this.#onTrouble('unwritable'));
  }

  #path(hash: string): string {
    return join(this.#directory, `${hash}.sentence`);
  }
}

function isOurs(name: string): boolean {
  return NAME.test(name) || LEFT_OVER.test(name) || OWNERSHIP.test(name) || name === RECORDED_FOLDER;
}

function checksum(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function format(hash: string, { bytes, durationMs, about }: Prompt): Buffer {
  const body = Buffer.concat([bytes, Buffer.from(JSON.stringify(about))]);
  const file = Buffer.alloc(HEADER_BYTES + body.length);
  MAGIC.copy(file);
  Buffer.from(hash, 'hex').copy(file, KEY_AT);
  file.writeUInt32LE(durationMs, DURATION_AT);
  file.writeUInt32LE(bytes.length, LENGTH_AT);
  checksum(body).copy(file, CHECKSUM_AT);
  file.set(body, HEADER_BYTES);
  return file;
}

/** Null unless `file` is whole and holds the prompt of that name. */
function parse(file: Buffer, hash: string): Prompt | null {
  if (file.length < HEADER_BYTES || !file.subarray(0, KEY_AT).equals(MAGIC)) return null;
  if (file.toString('hex', KEY_AT, DURATION_AT) !== hash) return null;
  const body = new Uint8Array(file.subarray(HEADER_BYTES));
  if (!checksum(body).equals(file.subarray(CHECKSUM_AT, HEADER_BYTES))) return null;
  const soundBytes = file.readUInt32LE(LENGTH_AT);
  const about = parseAbout(body.subarray(soundBytes));
  if (about === null) return null;
  return { bytes: body.subarray(0, soundBytes), durationMs: file.readUInt32LE(DURATION_AT), about };
}

/** Null for what is no JSON: the length of the sound is wrong. */
function parseAbout(bytes: Uint8Array): PromptAbout | null {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as PromptAbout;
  } catch {
    return null;
  }
}
