/**
 * Caches prompts in memory and optionally on disk. A prompt that several want at once is made once; its synthesis is
 * cancelled only when nobody wants it any more.
 */
import { LRUCache } from 'lru-cache';
import { EngineError } from '../engine-client/engine.ts';
import { hashOf, type Prompt, type PromptKey } from './prompt.ts';
import { type FileTrouble, PromptFiles } from './prompt-files.ts';

/** Metrics of a cache. */
export interface PromptCacheMetrics {
  /** A prompt was wanted: it was in `memory` or on `disk`, others wait for it (`shared`), or the `engine` makes it. */
  asked(from: 'memory' | 'disk' | 'shared' | 'engine'): void;
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

interface Making {
  readonly prompt: Promise<Prompt>;
  readonly controller: AbortController;
  /** Aborted when a call waits for the prompt. */
  readonly hurry: AbortController;
  waiters: number;
}

/** Makes a prompt until `signal` aborts. When `hurry` aborts, a call waits for the prompt. */
type Synthesis = (signal: AbortSignal, hurry: AbortSignal) => Promise<Prompt>;

/** The prompts of calls, or those of requests over HTTP. */
export class PromptCache {
  readonly #memory: LRUCache<string, Prompt>;
  readonly #files: PromptFiles | null;
  readonly #metrics: PromptCacheMetrics;
  readonly #making = new Map<string, Making>();
  /** Counts how often the cache was cleared: a prompt begun before that is not kept after it. */
  #generation = 0;

  constructor({ maxBytes, directory, directoryMaxBytes, metrics }: PromptCacheOptions) {
    this.#metrics = metrics;
    this.#memory = new LRUCache({
      maxSize: Math.max(maxBytes, 1),
      sizeCalculation: ({ bytes }) => bytes.length + PROMPT_OVERHEAD_BYTES,
    });
    this.#files =
      directory === null
        ? null
        : new PromptFiles({ directory, maxBytes: directoryMaxBytes, onTrouble: (trouble) => metrics.trouble(trouble) });
  }

  /** Lists the prompts on disk. Rejects with what the file system throws when the directory cannot be used. */
  async open(): Promise<void> {
    await this.#files?.open();
  }

  get stats(): PromptCacheStats {
    return {
      prompts: this.#memory.size,
      all: this.#countAll(),
      bytes: this.#memory.calculatedSize,
      diskBytes: this.#files?.bytes ?? 0,
    };
  }

  /** The prompt, if it is in memory. */
  get(key: PromptKey): Prompt | undefined {
    const prompt = this.#memory.get(hashOf(key));
    if (prompt !== undefined) this.#metrics.asked('memory');
    return prompt;
  }

  /**
   * Returns the prompt from memory, from disk, from a synthesis that is under way, or from `synthesise`, whose signal
   * aborts when nobody wants the prompt any more. With `waits`, a synthesis that was begun without is hurried. Rejects
   * with what `synthesise` rejects with, and with EngineError `cancelled` as soon as `signal` aborts.
   */
  make(key: PromptKey, synthesise: Synthesis, signal?: AbortSignal, { waits = true } = {}): Promise<Prompt> {
    const hash = hashOf(key);
    const known = this.#memory.get(hash);
    if (known !== undefined) {
      this.#metrics.asked('memory');
      return Promise.resolve(known);
    }
    const running = this.#making.get(hash);
    if (running !== undefined) this.#metrics.asked('shared');
    const making = running ?? this.#begin(hash, synthesise);
    if (waits) making.hurry.abort();
    return this.#join(hash, making, signal);
  }

  /** Deletes all prompts, in memory and on disk. Returns how many there were. */
  clear(): number {
    const names = new Set([...this.#memory.keys(), ...(this.#files?.names() ?? [])]);
    this.#generation++;
    this.#memory.clear();
    this.#metrics.held(0);
    this.#files?.clear();
    return names.size;
  }

  #countAll(): number {
    const files = this.#files;
    if (files === null) return this.#memory.size;
    let count = files.count;
    for (const name of this.#memory.keys()) if (!files.has(name)) count++;
    return count;
  }

  /** Resolves when all prompts have been written to disk. */
  async settled(): Promise<void> {
    await this.#files?.settled();
  }

  #begin(hash: string, synthesise: Synthesis): Making {
    const [controller, hurry] = [new AbortController(), new AbortController()];
    const prompt = this.#find(hash, () => synthesise(controller.signal, hurry.signal));
    const making: Making = { prompt, controller, hurry, waiters: 0 };
    this.#making.set(hash, making);
    const done = (): void => this.#forget(hash, making);
    making.prompt.then(done, done);
    return making;
  }

  async #find(hash: string, synthesise: () => Promise<Prompt>): Promise<Prompt> {
    const generation = this.#generation;
    const kept = (await this.#files?.read(hash)) ?? null;
    this.#metrics.asked(kept === null ? 'engine' : 'disk');
    const prompt = kept ?? (await synthesise());
    if (generation !== this.#generation) return prompt;
    this.#memory.set(hash, prompt);
    this.#metrics.held(this.#memory.calculatedSize);
    if (kept === null) this.#files?.write(hash, prompt);
    return prompt;
  }

  /** Waits for a prompt that others may wait for, too. */
  #join(hash: string, making: Making, signal: AbortSignal | undefined): Promise<Prompt> {
    making.waiters++;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        making.waiters--;
        reject(new EngineError('cancelled', 'nobody wants the prompt any more'));
        if (making.waiters > 0) return;
        this.#forget(hash, making);
        making.controller.abort();
      };
      if (signal?.aborted) {
        leave();
        return;
      }
      signal?.addEventListener('abort', leave, { once: true });
      const arrived = (): void => signal?.removeEventListener('abort', leave);
      void making.prompt.then(resolve, reject).finally(arrived);
    });
  }

  #forget(hash: string, making: Making): void {
    if (this.#making.get(hash) === making) this.#making.delete(hash);
  }
}
