import type { Clock } from '../../foundation/clock.ts';
import type { Client } from './origin.ts';

/** Wrong keys in a row that an address may offer, and how long it waits for each one after that. */
const IN_A_ROW = { burst: 10, refillMs: 6000 } as const;
/**
 * Wrong keys of an address that is never shut out for those in a row: whoever shares it may not guess without end
 * either.
 */
const IN_ALL = { burst: 100, refillMs: 100 } as const;
/** Addresses remembered; the one that was quiet longest is forgotten first. */
const ADDRESSES_MAX = 10_000;

/** What came of a key: it was right, it was wrong, or there were too many wrong ones. */
export type Outcome = 'right' | 'wrong' | 'refused';

/**
 * Counts wrong keys per address, so that keys cannot be guessed by trying. After ten in a row an address is shut out:
 * its keys are not looked at any more, but for one every six seconds. Two kinds of address are not, because somebody
 * who guesses would shut others out with him: one from which a right key came before, and one that several clients may
 * share. There a right key always gets in, unless more than ten wrong ones a second come.
 */
export class Attempts {
  readonly #inARow: Buckets;
  readonly #inAll: Buckets;
  /** Addresses that brought a right key, the latest last. Wrong keys alone push none of them out. */
  readonly #proven = new Set<string>();

  constructor({ clock }: { clock: Clock }) {
    this.#inARow = new Buckets(clock, IN_A_ROW);
    this.#inAll = new Buckets(clock, IN_ALL);
  }

  /** One attempt of `client`; `isRight` looks at the key, and is not asked when the client is shut out. */
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
