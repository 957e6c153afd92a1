import type { Clock } from '../../foundation/clock.ts';
import type { Client } from './origin.ts';

/** Wrong keys in a row that an address may send, and the time until it may send another. */
const IN_A_ROW = { burst: 10, refillMs: 6000 } as const;
/** The same for an address that is not blocked for wrong keys in a row: clients that share it may not guess forever. */
const IN_ALL = { burst: 100, refillMs: 100 } as const;
/** Addresses remembered. The one that was idle longest is forgotten first. */
const ADDRESSES_MAX = 10_000;

/** `refused`: the address sent too many wrong keys before. */
export type Outcome = 'right' | 'wrong' | 'refused';

/**
 * Counts wrong keys per address, so that nobody can find a key by trying. After ten wrong keys in a row an address is
 * blocked: only one of its keys is checked every six seconds. Two kinds of address are not blocked, because one client
 * that guesses would block others: an address that sent a right key before, and an address that several clients may
 * share. From these a right key is always accepted, unless more than ten wrong keys come per second.
 */
export class Attempts {
  readonly #inARow: Buckets;
  readonly #inAll: Buckets;
  /** Addresses that sent a right key, the latest last. Wrong keys do not remove them. */
  readonly #proven = new Set<string>();

  constructor({ clock }: { clock: Clock }) {
    this.#inARow = new Buckets(clock, IN_A_ROW);
    this.#inAll = new Buckets(clock, IN_ALL);
  }

  /** One attempt of `client`. `isRight` checks the key; it is not called when the client is blocked. */
  attempt({ address, isShared }: Client, isRight: () => boolean): Outcome {
    const isOver = this.#inARow.isEmpty(address);
    const mayLook = !isOver || isShared || this.#proven.has(address);
    if (!mayLook || this.#inAll.isEmpty(address)) return 'refused';
    if (isRight()) {
      this.#prove(address);
      return 'right';
    }
    this.#inARow.take(address);
    this.#inAll.take(address);
    return isOver ? 'refused' : 'wrong';
  }

  #prove(address: string): void {
    this.#inARow.refill(address);
    this.#proven.delete(address);
    this.#proven.add(address);
    dropOldest(this.#proven);
  }
}

interface Bucket {
  readonly left: number;
  readonly atMs: number;
}

/** A token bucket for each address. */
class Buckets {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #refillMs: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, { burst, refillMs }: { burst: number; refillMs: number }) {
    this.#clock = clock;
    this.#burst = burst;
    this.#refillMs = refillMs;
  }

  isEmpty(address: string): boolean {
    return this.#left(address) < 1;
  }

  take(address: string): void {
    const left = Math.max(this.#left(address) - 1, 0);
    this.#buckets.delete(address);
    this.#buckets.set(address, { left, atMs: this.#clock.nowMs() });
    dropOldest(this.#buckets);
  }

  refill(address: string): void {
    this.#buckets.delete(address);
  }

  #left(address: string): number {
    const bucket = this.#buckets.get(address);
    if (bucket === undefined) return this.#burst;
    return Math.min(this.#burst, bucket.left + (this.#clock.nowMs() - bucket.atMs) / this.#refillMs);
  }
}

/** Keeps the newest {@link ADDRESSES_MAX}. */
function dropOldest(addresses: Map<string, unknown> | Set<string>): void {
  for (const oldest of addresses.keys()) {
    if (addresses.size <= ADDRESSES_MAX) return;
    addresses.delete(oldest);
  }
}
