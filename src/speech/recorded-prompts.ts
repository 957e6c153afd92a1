/**
 * Recordings that people uploaded in place of synthesized sentences. They lie in a folder of their own, as WAV with
 * what they say beside it, and are never pushed out. Without a folder they last until the next start.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readWav, writeWav } from '../audio/wav.ts';
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { makePrivateFolder } from '../foundation/folders/folders.ts';
import { writePrivate } from '../foundation/folders/whole-file.ts';
import { samplesToMs } from '../foundation/units.ts';
import type { MonoAudio } from './wav-leveller.ts';

/** Recordings that are kept, and the longest one. */
export const RECORDED_MAX = 500;
export const RECORDED_MAX_MS = 120_000;
/** Without a folder so much sound is kept in memory. */
const MEMORY_MAX_BYTES = 67_108_864;

const ID_CHARS = 32;
const FILE = /^([0-9a-f]{32})\.(json|wav)(\.part)?$/;

const recordedPrompt = z.object({
  text: z.string(),
  voice: z.string(),
  /** Differs for each recording. */
  version: z.string(),
  madeMs: z.number(),
  durationMs: z.number(),
  bytes: z.number(),
});

/** A recording of one text for one voice. Times are wall-clock ms. */
export interface RecordedPrompt extends z.infer<typeof recordedPrompt> {
  readonly id: string;
}

interface RecordedPromptsOptions {
  /** Null = they are kept in memory. */
  readonly directory: string | null;
  readonly clock: Pick<Clock, 'wall'>;
}

export class RecordedPrompts {
  readonly #directory: string | null;
  readonly #clock: Pick<Clock, 'wall'>;
  readonly #prompts = new Map<string, RecordedPrompt>();
  readonly #sounds = new Map<string, MonoAudio>();

  constructor({ directory, clock }: RecordedPromptsOptions) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** Lists the recordings of the folder; what is not whole is removed. Rejects with the file system's error. */
  async open(): Promise<void> {
    const directory = this.#directory;
    if (directory === null) return;
    await makePrivateFolder(directory, (name) => FILE.test(name));
    const names = (await readdir(directory)).filter((name) => FILE.test(name));
    for (const name of names.filter((each) => each.endsWith('.json'))) await this.#take(join(directory, name), name);
    const strays = names.filter((name) => !this.#prompts.has(name.slice(0, ID_CHARS)) || name.endsWith('.part'));
    for (const name of strays) await rm(join(directory, name), { force: true });
  }

  /** The latest first. */
  list(): RecordedPrompt[] {
    return [...this.#prompts.values()].toSorted((a, b) => b.madeMs - a.madeMs);
  }

  get size(): number {
    return this.#prompts.size;
  }

  /** The recording of `text` for `voice`; spaces around the text do not matter. */
  find(voice: string, text: string): RecordedPrompt | null {
    return this.#prompts.size === 0 ? null : (this.#prompts.get(idOf(voice, text)) ?? null);
  }

  get(id: string): RecordedPrompt | null {
    return this.#prompts.get(id) ?? null;
  }

  /** The sound of a recording; null when it is gone or cannot be read. */
  async sound(id: string): Promise<MonoAudio | null> {
    if (this.#directory === null) return this.#sounds.get(id) ?? null;
    if (!this.#prompts.has(id)) return null;
    try {
      const { channels, rateHz } = readWav(await readFile(join(this.#directory, `${id}.wav`)));
      return { samples: channels[0] ?? new Int16Array(0), rateHz };
    } catch {
      return null;
    }
  }

  /**
   * Keeps a recording in place of the one before it.
   * @throws TrunklineError `invalid_request` for one too long, or one too many; the file system's error
   */
  async put({ voice, text, sound }: { voice: string; text: string; sound: MonoAudio }): Promise<RecordedPrompt> {
    const id = idOf(voice, text);
    const durationMs = Math.round(samplesToMs(sound.samples.length, sound.rateHz));
    const bytes = sound.samples.byteLength;
    this.#check(id, { durationMs, bytes });
    const madeMs = this.#clock.wall().getTime();
    const prompt = { id, text: text.trim(), voice, version: randomUUID(), madeMs, durationMs, bytes };
    if (this.#directory === null) this.#sounds.set(id, sound);
    else await this.#write(this.#directory, prompt, sound);
    this.#prompts.set(id, prompt);
    return prompt;
  }

  /** Returns whether there was one. Rejects with the file system's error. */
  async delete(id: string): Promise<boolean> {
    this.#sounds.delete(id);
    if (!this.#prompts.delete(id)) return false;
    if (this.#directory === null) return true;
    // Without its description a sound is a stray, which the next start removes.
    await rm(join(this.#directory, `${id}.json`), { force: true });
    await rm(join(this.#directory, `${id}.wav`), { force: true });
    return true;
  }

  #check(id: string, { durationMs, bytes }: { durationMs: number; bytes: number }): void {
    if (durationMs > RECORDED_MAX_MS)
      throw refusal(`it is ${Math.round(durationMs / 1000)} s long, at most ${RECORDED_MAX_MS / 1000} s are allowed`);
    if (this.#prompts.has(id)) return;
    if (this.#prompts.size >= RECORDED_MAX)
      throw refusal(`${RECORDED_MAX} recordings are kept, which is the most allowed: delete one first`);
    const heldBytes = [...this.#prompts.values()].reduce((sum, each) => sum + each.bytes, 0);
    if (this.#directory === null && heldBytes + bytes > MEMORY_MAX_BYTES)
      throw refusal('without PROMPT_CACHE_DIR no more recordings fit into memory: set it, or delete one first');
  }

  async #write(directory: string, { id, ...about }: RecordedPrompt, sound: MonoAudio): Promise<void> {
    await writePrivate(join(directory, `${id}.wav`), writeWav([sound.samples], sound.rateHz));
    await writePrivate(join(directory, `${id}.json`), JSON.stringify(about));
  }

  async #take(path: string, name: string): Promise<void> {
    try {
      const id = name.slice(0, ID_CHARS);
      this.#prompts.set(id, { id, ...recordedPrompt.parse(JSON.parse(await readFile(path, 'utf8'))) });
    } catch {
      // It is not whole, and is removed with what belongs to it.
    }
  }
}

function idOf(voice: string, text: string): string {
  return createHash('sha256')
    .update(JSON.stringify([voice, text.trim()]))
    .digest('hex')
    .slice(0, ID_CHARS);
}

function refusal(what: string): TrunklineError {
  return new TrunklineError('invalid_request', `file: the recording cannot be kept: ${what}`, 'file');
}
