/**
 * Caches prompts in memory and optionally on disk. A prompt that several want at once is made once, and each of them
 * gets it from its beginning while it is made. Its synthesis is cancelled only when nobody wants it any more.
 */
import { joinBytes } from '../audio/bytes.ts';
import { EngineError } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import { GrowingList } from '../foundation/growing-list.ts';
import { bytesToMs, type Codec } from '../foundation/units.ts';
import { PinnedLru } from './pinned-lru.ts';
import { hashOf, type Prompt, type PromptKey, textHashIn, textHashOf } from './prompt.ts';
import type { CachedPrompt } from './prompt-entry.ts';
import { type FileTrouble, PromptFiles } from './prompt-files.ts';

/** Where a prompt comes from: `memory` or `disk`; `shared` = others wait for it already; the `engine` makes it. */
export type PromptSource = 'memory' | 'disk' | 'shared' | 'engine';

/** Metrics of a cache. */
export interface PromptCacheMetrics {
  /** A prompt was wanted. */
  asked(from: PromptSource): void;
  trouble(trouble: FileTrouble): void;
  /** The bytes of all prompts in memory have changed. */
  held(bytes: number): void;
}

interface PromptCacheOptions {
  /** Most bytes of all prompts in memory; the least recently used go first. 0 = none are kept. */
  readonly maxBytes: number;
  /** Keeps prompts over restarts; null = none. */
  readonly directory: string | null;
  readonly directoryMaxBytes: number;
  readonly metrics: PromptCacheMetrics;
  readonly clock: Pick<Clock, 'wall'>;
  /** Whether the prompt of a text may be kept when it is made; left out = always. */
  readonly keeps?: (text: string) => boolean;
  /** The prompts that stay (`pin`) are more than may be kept there. */
  readonly onTooManyPinned?: (where: 'memory' | 'disk') => void;
}

/** How full a cache is. */
export interface PromptCacheStats {
  /** Prompts in memory. */
  readonly prompts: number;
  /** Prompts in memory or on disk. */
  readonly all: number;
  /** Bytes in memory. */
  readonly bytes: number;
  readonly diskBytes: number;
}

/** Memory of a prompt beside its sound: its name and the cache's bookkeeping. */
const PROMPT_OVERHEAD_BYTES = 256;

/** So little missing is made in a fraction of a second: then the prompt is kept although nobody wants it any more. */
const MISSING_MAX_MS = 2000;

interface KeptPrompt {
  readonly prompt: Prompt;
  /** Wall-clock ms. */
  readonly madeMs: number;
  usedMs: number;
}

interface Making {
  readonly parts: GrowingList<Uint8Array>;
  readonly controller: AbortController;
  /** Aborted when a call waits for the prompt. */
  readonly hurry: AbortController;
  listeners: number;
}

/** How a prompt is made where nobody has made it, and for how long it is wanted. */
interface PromptWish {
  /** Makes the prompt in parts until `signal` aborts. When `hurry` aborts, a call waits for the prompt. */
  synthesise(signal: AbortSignal, hurry: AbortSignal): AsyncIterable<Uint8Array>;
  /** How long it will be, roughly. */
  readonly expectedMs: number;
  /** Whether somebody waits for it: then a synthesis that was begun for nobody is hurried. */
  readonly waits: boolean;
  readonly signal: AbortSignal;
  /** Whether it may be kept, asked when it is made; left out = it may. */
  isWorthKeeping?(): boolean;
  /** It is known where the prompt comes from. */
  onFound?(from: PromptSource): void;
}

/** The prompts of calls, or those of requests over HTTP. */
export class PromptCache {
  readonly #memory: PinnedLru<KeptPrompt>;
  readonly #clock: Pick<Clock, 'wall'>;
  readonly #files: PromptFiles | null;
  readonly #metrics: PromptCacheMetrics;
  readonly #keeps: (text: string) => boolean;
  readonly #making = new Map<string, Making>();
  /** Counts how often the cache was cleared: a prompt begun before that is not kept after it. */
  #generation = 0;

  constructor(options: PromptCacheOptions) {
    const { maxBytes, directory, directoryMaxBytes, metrics, clock, keeps = () => true, onTooManyPinned } = options;
    this.#metrics = metrics;
    this.#keeps = keeps;
    this.#clock = clock;
    this.#memory = new PinnedLru({
      maxBytes,
      bytesOf: ({ prompt }) => prompt.bytes.length + prompt.about.text.length + PROMPT_OVERHEAD_BYTES,
      onTooManyPinned: () => onTooManyPinned?.('memory'),
    });
    this.#files =
      directory === null
        ? null
        : new PromptFiles({
            directory,
            maxBytes: directoryMaxBytes,
            onTrouble: (trouble) => metrics.trouble(trouble),
            onTooManyPinned: () => onTooManyPinned?.('disk'),
            clock,
          });
  }

  /** Lists the prompts on disk. Rejects with what the file system throws when the directory cannot be used. */
  async open(): Promise<void> {
    await this.#files?.open();
  }

  get stats(): PromptCacheStats {
    return {
      prompts: this.#memory.size,
      all: this.#countAll(),
      bytes: this.#memory.bytes,
      diskBytes: this.#files?.bytes ?? 0,
    };
  }

  /** The prompt, if it is in memory. */
  get(key: PromptKey): Prompt | undefined {
    const hash = hashOf(key);
    const kept = this.#memory.get(hash);
    if (kept === undefined) return undefined;
    this.#metrics.asked('memory');
    kept.usedMs = this.#nowMs();
    this.#files?.touch(hash);
    return kept.prompt;
  }

  /** Whether the prompt is made, in memory or on disk. */
  has(key: PromptKey): boolean {
    const hash = hashOf(key);
    return this.#memory.has(hash) || this.#files?.has(hash) === true;
  }

  /**
   * The prompt in parts: from memory, from disk, from a synthesis that is under way, or from `synthesise`, whose signal
   * aborts when nobody wants the prompt any more and more than a little of it is missing. Throws what `synthesise`
   * throws, behind the parts that it gave, and EngineError `cancelled` as soon as `signal` aborts.
   */
  async *listen(key: PromptKey, wish: PromptWish): AsyncGenerator<Uint8Array, void, undefined> {
    const known = this.get(key);
    if (known !== undefined) {
      wish.onFound?.('memory');
      if (known.bytes.length > 0) yield known.bytes;
      return;
    }
    const hash = hashOf(key);
    const running = this.#making.get(hash);
    if (running !== undefined) {
      this.#metrics.asked('shared');
      wish.onFound?.('shared');
    }
    const making = running ?? this.#begin(key, wish);
    if (wish.waits) making.hurry.abort();
    making.listeners++;
    try {
      yield* making.parts.read(wish.signal);
    } finally {
      making.listeners--;
      if (making.listeners === 0 && !isAlmostMade(making, key.codec, wish.expectedMs)) {
        this.#forget(hash, making);
        making.controller.abort();
      }
    }
    if (wish.signal.aborted) throw new EngineError('cancelled', 'nobody wants the prompt any more');
  }

  /** The prompts that were used last, at most `max`, in no particular order. */
  list(max: number): CachedPrompt[] {
    const inMemory = this.#memory.latest(max).map(([id, { prompt, madeMs, usedMs }]): CachedPrompt => {
      return { id, bytes: prompt.bytes.length, madeMs, usedMs };
    });
    const ids = new Set(inMemory.map(({ id }) => id));
    return [...inMemory, ...(this.#files?.list(max) ?? []).filter(({ id }) => !ids.has(id))];
  }

  /** The prompt of that id, without counting as a use; null when there is none (any more). */
  async peek(id: string): Promise<Prompt | null> {
    return this.#memory.peek(id)?.prompt ?? (await this.#files?.peek(id)) ?? null;
  }

  /** Deletes one prompt, in memory and on disk. Returns whether it was there. */
  delete(id: string): boolean {
    const inMemory = this.#memory.delete(id);
    this.#metrics.held(this.#memory.bytes);
    const onDisk = this.#files?.delete(id) === true;
    return inMemory || onDisk;
  }

  /** Deletes all prompts, in memory and on disk. Returns how many there were. */
  clear(): number {
    const names = new Set([...this.#memory.names(), ...(this.#files?.names() ?? [])]);
    this.#generation++;
    this.#memory.clear();
    this.#metrics.held(0);
    this.#files?.clear();
    return names.size;
  }

  /**
   * Keeps the prompts before all others of whose text's hash ({@link textHashOf}) `isPinned` is true, in every voice
   * and codec, in place of those before: they are pushed out only where they alone are too many.
   */
  pin(isPinned: (textHash: string) => boolean): void {
    const isNamed = (name: string): boolean => isPinned(textHashIn(name));
    this.#memory.pin(isNamed);
    this.#files?.pin(isNamed);
  }

  /**
   * Deletes the prompts of these texts in every voice and codec, in memory and on disk. Resolves with how many there
   * were, when they are gone.
   */
  async forget(texts: readonly string[]): Promise<number> {
    const hashes = new Set(texts.map(textHashOf));
    const names = new Set(
      [...this.#memory.names(), ...(this.#files?.names() ?? [])].filter((name) => hashes.has(textHashIn(name))),
    );
    for (const name of names) {
      this.#memory.delete(name);
      this.#files?.delete(name);
    }
    this.#metrics.held(this.#memory.bytes);
    await this.#files?.settled();
    return names.size;
  }

  #countAll(): number {
    const files = this.#files;
    if (files === null) return this.#memory.size;
    let count = files.count;
    for (const name of this.#memory.names()) if (!files.has(name)) count++;
    return count;
  }

  /** Resolves when all prompts have been written to disk. */
  async settled(): Promise<void> {
    await this.#files?.settled();
  }

  #begin(key: PromptKey, wish: PromptWish): Making {
    const hash = hashOf(key);
    const making: Making = {
      parts: new GrowingList(),
      controller: new AbortController(),
      hurry: new AbortController(),
      listeners: 0,
    };
    this.#making.set(hash, making);
    void this.#make(key, making, wish);
    return making;
  }

  /** Never rejects: the listeners are told. */
  async #make(key: PromptKey, making: Making, wish: PromptWish): Promise<void> {
    const hash = hashOf(key);
    const generation = this.#generation;
    try {
      const kept = (await this.#files?.read(hash)) ?? null;
      const from = kept === null ? 'engine' : 'disk';
      this.#metrics.asked(from);
      wish.onFound?.(from);
      const synthesise = () => wish.synthesise(making.controller.signal, making.hurry.signal);
      for await (const part of kept === null ? synthesise() : [kept.bytes]) making.parts.push(part);
      const isWorthIt = wish.isWorthKeeping?.() ?? true;
      const isWanted = isWorthIt && generation === this.#generation && !making.controller.signal.aborted;
      if (isWanted) this.#keep(hash, kept ?? toPrompt(making.parts.items, key), kept === null);
      making.parts.end();
    } catch (error) {
      making.parts.fail(error);
    }
    this.#forget(hash, making);
  }

  #keep(hash: string, prompt: Prompt, isNew: boolean): void {
    if (!this.#keeps(prompt.about.text)) {
      // It may be there from before.
      this.#files?.delete(hash);
      return;
    }
    const nowMs = this.#nowMs();
    const madeMs = isNew ? nowMs : (this.#files?.madeMs(hash) ?? nowMs);
    this.#memory.set(hash, { prompt, madeMs, usedMs: nowMs });
    this.#metrics.held(this.#memory.bytes);
    if (isNew) this.#files?.write(hash, prompt);
  }

  #nowMs(): number {
    return this.#clock.wall().getTime();
  }

  #forget(hash: string, making: Making): void {
    if (this.#making.get(hash) === making) this.#making.delete(hash);
  }
}

/** Whether it is worth its end although nobody waits for it. */
function isAlmostMade({ parts }: Making, codec: Codec, expectedMs: number): boolean {
  const madeMs = bytesToMs(
    parts.items.reduce((sum, { length }) => sum + length, 0),
    codec,
  );
  return madeMs > 0 && expectedMs - madeMs <= MISSING_MAX_MS;
}

function toPrompt(parts: readonly Uint8Array[], { text, voice, model, speed, codec }: PromptKey): Prompt {
  const bytes = joinBytes(parts);
  return { bytes, durationMs: bytesToMs(bytes.length, codec), about: { text, voice, model, speed, codec } };
}
