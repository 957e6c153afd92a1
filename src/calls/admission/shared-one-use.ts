/**
 * Things kept under a key until any gateway of a cluster asks for them, once. Those of this gateway are also in memory:
 * while the store is away they are taken from there, and what has to be written waits.
 */
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { MaybePromise } from '../../foundation/maybe-promise.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import { LIFE_MS, OneUse } from './one-use.ts';

/** How long anybody waits for the store. */
const WAIT_MS = 1000;
/** The store is tried again so long after it failed. */
const RETRY_MS = 1000;
/** What is written at once. */
const CHANGES_AT_ONCE = 200;

/** What several kinds of one-use things are kept in. The same key may be there once for each kind. */
export type OneUseKind = 'call-token' | 'announcement' | 'twilio-transfer' | 'twilio-dialled' | 'twilio-handover';

/** The store that the gateways of a cluster share. Each method rejects when it is away, after some seconds at most. */
export interface OneUseStore {
  /** Keeps each `content` for `lifeMs` from now, in place of what was kept under its key. */
  put(
    kind: OneUseKind,
    items: readonly { readonly key: string; readonly content: string; readonly lifeMs: number }[],
  ): Promise<void>;
  /** What was kept under `key`, which is gone with that; null = nothing. */
  take(kind: OneUseKind, key: string): Promise<string | null>;
  drop(kind: OneUseKind, keys: readonly string[]): Promise<void>;
}

/** Keys that may come once in a while, whichever gateway they come to. */
export interface UsedKeys {
  /** Whether `key` comes for the first time; it is remembered for `lifeMs`. Rejects when the store is away. */
  claim(kind: 'audiohook-nonce', key: string, lifeMs: number): Promise<boolean>;
}

/** Things that are asked for once, wherever they are. */
export interface OneTime<V> {
  /** Keeps `value` in place of what was kept under `key`. */
  put(key: string, value: V): void;
  /**
   * What is kept under `key`, for the only time; null = nothing (any more). No promise where nothing is shared.
   * Rejects with `shared_state_unavailable` when only the store could tell, and is away.
   */
  take(key: string): MaybePromise<V | null>;
  /** Resolves when others find what was put so far, or after a second. Never rejects. */
  settled(): Promise<void>;
}

interface Change {
  /** Null = it is to be dropped. */
  readonly content: string | null;
  readonly expiresAtMs: number;
  /** The store may have it. */
  isTried: boolean;
}

interface SharedOptions<V> {
  readonly clock: Clock;
  /** The most that this gateway has outstanding; beyond it its oldest go. */
  readonly itemsMax: number;
  readonly kind: OneUseKind;
  readonly store: OneUseStore;
  /**
   * What a key says itself, where the store is away and this gateway did not give it out; null = nothing (any more),
   * undefined = only the store can tell. Absent = keys say nothing.
   */
  readonly readKey?: (key: string) => V | null | undefined;
}

/** `store` null = each gateway keeps its own. Values must be JSON. */
export function openOneTime<V>(options: Omit<SharedOptions<V>, 'store'> & { store: OneUseStore | null }): OneTime<V> {
  const { store } = options;
  return store === null ? new OneUse<V>(options) : new SharedOneUse<V>({ ...options, store });
}

/** {@link OneTime} in a store of several gateways. */
export class SharedOneUse<V> implements OneTime<V> {
  readonly #options: SharedOptions<V>;
  /** What this gateway has put and nobody here has taken. */
  readonly #own: OneUse<V>;
  /** What the store does not have yet. */
  readonly #due = new Map<string, Change>();
  #isAway = false;
  #writing: Promise<void> | null = null;

  constructor(options: SharedOptions<V>) {
    this.#options = options;
    const onDropped = (key: string): void => this.#drop(key);
    this.#own = new OneUse({ clock: options.clock, itemsMax: options.itemsMax, onDropped });
  }

  put(key: string, value: V): void {
    this.#own.put(key, value);
    this.#change(key, JSON.stringify(value));
  }

  async take(key: string): Promise<V | null> {
    // At once, so that of two that ask here only one can get it while the store is away.
    const own = this.#own.take(key);
    await this.settled();
    if (own !== null && typeof this.#due.get(key)?.content === 'string') {
      this.#change(key, null);
      return own;
    }
    const found = await this.#ask(key);
    if (found !== undefined) return found === null ? null : (own ?? read<V>(found));
    const told = own ?? this.#options.readKey?.(key);
    if (told === undefined)
      throw new TrunklineError(
        'shared_state_unavailable',
        'the database that the gateways share cannot be asked just now; try again',
      );
    if (told !== null) this.#change(key, null);
    return told;
  }

  async settled(): Promise<void> {
    if (this.#writing !== null && !this.#isAway) await settlesWithin(this.#options.clock, this.#writing, WAIT_MS);
  }

  /** Undefined = the store is away. */
  async #ask(key: string): Promise<string | null | undefined> {
    const { store, kind, clock } = this.#options;
    let found: string | null | undefined;
    const asked = store.take(kind, key).then((content) => {
      found = content;
    });
    await settlesWithin(clock, asked, WAIT_MS);
    return found;
  }

  #change(key: string, content: string | null): void {
    this.#due.delete(key);
    this.#due.set(key, { content, expiresAtMs: this.#options.clock.nowMs() + LIFE_MS, isTried: false });
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
  }

  /** What the store never got is not owed to it: else a flood would fill the memory while it is away. */
  #drop(key: string): void {
    const due = this.#due.get(key);
    if (typeof due?.content === 'string' && !due.isTried) this.#due.delete(key);
    else this.#change(key, null);
  }

  async #write(): Promise<void> {
    const { clock, kind, store } = this.#options;
    while (this.#due.size > 0) {
      const changes = [...this.#due].slice(0, CHANGES_AT_ONCE);
      for (const [, change] of changes) change.isTried = true;
      const nowMs = clock.nowMs();
      const items = changes.flatMap(([key, { content, expiresAtMs }]) =>
        content === null || expiresAtMs <= nowMs ? [] : [{ key, content, lifeMs: expiresAtMs - nowMs }],
      );
      const dropped = changes.flatMap(([key, { content }]) => (content === null ? [key] : []));
      try {
        if (items.length > 0) await store.put(kind, items);
        if (dropped.length > 0) await store.drop(kind, dropped);
        this.#isAway = false;
        for (const [key, change] of changes) if (this.#due.get(key) === change) this.#due.delete(key);
      } catch {
        this.#isAway = true;
        await this.#pause();
      }
    }
  }

  /** Nothing is owed for what has expired meanwhile. */
  async #pause(): Promise<void> {
    const { clock } = this.#options;
    await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve, true));
    for (const [key, { expiresAtMs }] of this.#due) if (expiresAtMs <= clock.nowMs()) this.#due.delete(key);
  }
}

/** Null for what another version of this program may have written. */
function read<V>(content: string): V | null {
  try {
    return JSON.parse(content) as V;
  } catch {
    return null;
  }
}
