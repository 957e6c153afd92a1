import type { Clock } from '../../foundation/clock.ts';
import { Buckets } from './buckets.ts';
import { dropOldest } from './drop-oldest.ts';
import type { Client } from './origin.ts';
import type { SharedCounts } from './shared-counts.ts';

/** Wrong keys in a row that an address may send, and the time until it may send another. */
const IN_A_ROW = { burst: 10, refillMs: 6000 } as const;
/** The same for an address that is not blocked for wrong keys in a row: clients that share it may not guess forever. */
const IN_ALL = { burst: 100, refillMs: 100 } as const;
/** Wrong passwords of one name in a row, from wherever they come, and the time until another is checked. */
const OF_A_NAME = { burst: 10, refillMs: 60_000 } as const;

/** `refused`: the address sent too many wrong keys before. */
export type Outcome = 'right' | 'wrong' | 'refused';

/** An attempt that counts as a wrong one until it is known to be right. One of the two is called, once. */
export interface Attempt {
  right(): void;
  /** It was not checked after all, so it does not count. */
  unchecked(): void;
  /** What to answer if the secret is wrong. */
  readonly ifWrong: 'wrong' | 'refused';
}

/**
 * Counts wrong keys per address, so that nobody can find a key by trying. After ten wrong keys in a row an address is
 * blocked: only one of its keys is checked every six seconds. Two kinds of address are not blocked, because one client
 * that guesses would block others: an address that sent a right key before, and an address that several clients may
 * share. From these a right key is always accepted, unless more than ten wrong keys come per second.
 *
 * Wrong passwords also count per name: after ten in a row one is checked a minute, but for addresses from which that
 * name has signed in before. Names that do not exist count alike.
 */
export class Attempts {
  readonly #inARow: Buckets;
  readonly #inAll: Buckets;
  readonly #ofAName: Buckets;
  /** Addresses that sent a right key, the latest last. Wrong keys do not remove them. */
  readonly #proven = new Set<string>();
  /** Names with an address from which they signed in, the latest last. */
  readonly #provenNames = new Set<string>();

  /** `counts`: other gateways count the same; absent or null = there are none. */
  constructor({ clock, counts = null }: { clock: Clock; counts?: SharedCounts | null }) {
    this.#inARow = new Buckets(clock, IN_A_ROW, { kind: 'in-a-row', counts });
    this.#inAll = new Buckets(clock, IN_ALL, { kind: 'in-all', counts });
    this.#ofAName = new Buckets(clock, OF_A_NAME, { kind: 'of-a-name', counts });
  }

  /** One attempt of `client`. `isRight` checks the key; it is not called when the client is blocked. */
  attempt(client: Client, isRight: () => boolean): Outcome {
    const attempt = this.begin(client);
    if (attempt === null) return 'refused';
    if (!isRight()) return attempt.ifWrong;
    attempt.right();
    return 'right';
  }

  /**
   * Begins an attempt of `client`, whose secret takes a while to check; `name` is whose password it is. Null = it is
   * refused. It counts at once, so that many at the same time are no way around the limits.
   */
  begin({ address, isShared }: Client, name?: string): Attempt | null {
    const isOver = this.#inARow.isEmpty(address);
    const mayLook = !isOver || isShared || this.#proven.has(address);
    if (!mayLook || this.#inAll.isEmpty(address)) return null;
    const pair = `${name}\n${address}`;
    if (name !== undefined && this.#ofAName.isEmpty(name) && !this.#provenNames.has(pair)) return null;
    this.#inARow.take(address);
    this.#inAll.take(address);
    if (name !== undefined) this.#ofAName.take(name);
    return {
      ifWrong: isOver ? 'refused' : 'wrong',
      right: () => {
        this.#inAll.giveBack(address);
        this.#inARow.refill(address);
        remember(this.#proven, address);
        if (name === undefined) return;
        this.#ofAName.refill(name);
        remember(this.#provenNames, pair);
      },
      unchecked: () => {
        this.#inAll.giveBack(address);
        this.#inARow.giveBack(address);
        if (name !== undefined) this.#ofAName.giveBack(name);
      },
    };
  }
}

function remember(known: Set<string>, entry: string): void {
  known.delete(entry);
  known.add(entry);
  dropOldest(known);
}
