import type { Clock } from '../../foundation/clock.ts';
import { Buckets } from './buckets.ts';
import { dropOldest } from './drop-oldest.ts';
import type { Client } from './origin.ts';
import type { SharedCounts } from './shared-counts.ts';

/** Wrong keys in a row that an address may send, and the time until it may send another. */
const IN_A_ROW = { burst: 10, refillMs: 6000 } as const;
/** The same for an address that is not blocked for wrong keys in a row: clients that share it may not guess forever. */
const IN_ALL = { burst: 100, refillMs: 100 } as const;
/** The same for all addresses of an IPv6 site, a /48: whoever has one has 65,536 networks to guess from. */
const OF_A_SITE = { burst: 100, refillMs: 600 } as const;
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
  /** Whoever it is was right before, from there or in the same browser. */
  readonly isKnown: boolean;
}

/** Whose password is tried, and whether they have signed in with that browser before. */
interface Named {
  readonly name: string;
  readonly isKnownBrowser: boolean;
}

/**
 * Counts wrong keys per address, so that nobody can find a key by trying. After ten wrong keys in a row an address is
 * blocked: only one of its keys is checked every six seconds. Two kinds of address are not blocked, because one client
 * that guesses would block others: an address that sent a right key before, and an address that several clients may
 * share. From these a right key is always accepted, unless more than ten wrong keys come per second.
 *
 * Wrong passwords also count per name: after ten in a row one is checked a minute, but for addresses from which that
 * name has signed in before. Names that do not exist count alike. What comes from one IPv6 site counts together; that
 * shuts out nobody whose address, or whose browser and name, was right before.
 */
export class Attempts {
  readonly #inARow: Buckets;
  readonly #inAll: Buckets;
  readonly #ofAName: Buckets;
  readonly #ofASite: Buckets;
  /** Wrong passwords of a name in browsers that it has signed in with before. */
  readonly #ofABrowser: Buckets;
  /** Addresses that sent a right key, the latest last. Wrong keys do not remove them. */
  readonly #proven = new Set<string>();
  /** Names with an address from which they signed in, the latest last. */
  readonly #provenNames = new Set<string>();

  /** `counts`: other gateways count the same; absent or null = there are none. */
  constructor({ clock, counts = null }: { clock: Clock; counts?: SharedCounts | null }) {
    this.#inARow = new Buckets(clock, IN_A_ROW, { kind: 'in-a-row', counts });
    this.#inAll = new Buckets(clock, IN_ALL, { kind: 'in-all', counts });
    this.#ofAName = new Buckets(clock, OF_A_NAME, { kind: 'of-a-name', counts });
    this.#ofASite = new Buckets(clock, OF_A_SITE, { kind: 'of-a-site', counts });
    this.#ofABrowser = new Buckets(clock, OF_A_NAME, { kind: 'of-a-browser', counts });
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
   * Begins an attempt of `client`, whose secret takes a while to check; `named` is whose password it is. Null = it is
   * refused. It counts at once, so that many at the same time are no way around the limits.
   */
  begin({ address, isShared }: Client, named: Named | null = null): Attempt | null {
    const name = named?.name ?? null;
    const pair = `${name}\n${address}`;
    const isBrowser = named?.isKnownBrowser === true && !this.#ofABrowser.isEmpty(named.name);
    const isKnown = isBrowser || (name !== null && this.#provenNames.has(pair));
    const isOver = this.#inARow.isEmpty(address);
    const mayLook = isBrowser || isShared || this.#proven.has(address);
    const site = siteOf(address);
    if ((isOver || (site !== null && this.#ofASite.isEmpty(site))) && !mayLook) return null;
    if (this.#inAll.isEmpty(address) && !isBrowser) return null;
    if (name !== null && this.#ofAName.isEmpty(name) && !isKnown) return null;
    const taken: readonly (readonly [Buckets, string])[] = [
      [this.#inARow, address],
      [this.#inAll, address],
      ...(site === null ? [] : [[this.#ofASite, site] as const]),
      ...(name === null ? [] : [[this.#ofAName, name] as const]),
      ...(isBrowser && name !== null ? [[this.#ofABrowser, name] as const] : []),
    ];
    for (const [buckets, subject] of taken) buckets.take(subject);
    return {
      ifWrong: isOver ? 'refused' : 'wrong',
      isKnown,
      right: () => {
        this.#inAll.giveBack(address);
        this.#inARow.refill(address);
        if (site !== null) this.#ofASite.giveBack(site);
        remember(this.#proven, address);
        if (name === null) return;
        this.#ofAName.refill(name);
        if (isBrowser) this.#ofABrowser.refill(name);
        remember(this.#provenNames, pair);
      },
      unchecked: () => {
        for (const [buckets, subject] of taken) buckets.giveBack(subject);
      },
    };
  }
}

/** The first 48 bits of an IPv6 address, of whose first 64 a client is known by; null for an IPv4 address. */
function siteOf(address: string): string | null {
  return address.includes(':') ? address.split(':').slice(0, 3).join(':') : null;
}

function remember(known: Set<string>, entry: string): void {
  known.delete(entry);
  known.add(entry);
  dropOldest(known);
}
