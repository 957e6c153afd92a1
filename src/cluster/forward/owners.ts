/** Which gateway has a call, for requests that only it can answer. */

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../foundation/clock.ts';
import { POSTGRES_NOW_MS } from '../../foundation/database/postgres-time.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import { type Cluster, type ClusterMember, DEAD_AFTER_MS } from '../cluster.ts';
import type { StateDatabase } from '../state/state-database.ts';

/** How long a request waits for the database. */
const WAIT_MS = 1000;
/** Calls whose owner is remembered: it never changes. */
const KNOWN_MAX = 10_000;
/** A gateway that has just begun is not among the members before the next heartbeat. */
const NEW_MS = 5000;

/** A gateway, as far as requests are passed on to it. */
export type Owner = Pick<ClusterMember, 'id' | 'address'>;

interface OwnersOptions {
  readonly cluster: Pick<Cluster, 'id' | 'members'>;
  readonly database: Pick<StateDatabase, 'query'>;
  readonly clock: Clock;
}

/** Finds other gateways. */
export class Owners {
  readonly #options: OwnersOptions;
  readonly #known = new LRUCache<string, { readonly owner: Owner; readonly atMs: number }>({ max: KNOWN_MAX });

  constructor(options: OwnersOptions) {
    this.#options = options;
  }

  /** The other gateways that live, as of the last heartbeat. */
  others(): readonly Owner[] {
    const { cluster } = this.#options;
    return cluster.members().filter(({ id }) => id !== cluster.id);
  }

  /**
   * The other gateway that has a call which is not over; null = it is ours, over, unknown, or its gateway is dead.
   * @throws TrunklineError `shared_state_unavailable` when nobody can tell just now
   */
  async otherOwnerOf(callId: string): Promise<Owner | null> {
    const { clock } = this.#options;
    // PostgreSQL has no NUL in its texts, and refuses to be asked for one.
    if (callId.includes('\0')) return null;
    const known = this.#known.get(callId);
    if (known !== undefined && this.#isThere(known)) return known.owner;
    const owner = await this.#ask(callId);
    if (owner !== null) this.#known.set(callId, { owner, atMs: clock.nowMs() });
    return owner;
  }

  #isThere({ owner, atMs }: { readonly owner: Owner; readonly atMs: number }): boolean {
    const { cluster, clock } = this.#options;
    return clock.nowMs() - atMs < NEW_MS || cluster.members().some(({ id }) => id === owner.id);
  }

  async #ask(callId: string): Promise<Owner | null> {
    const { cluster, database, clock } = this.#options;
    let owner: Owner | null | undefined;
    const asked = database
      .query<Owner>(
        `SELECT gateways.id, gateways.address FROM calls JOIN gateways ON gateways.id = calls.gateway
        WHERE calls.id = $1 AND calls.state <> 'ended' AND gateways.id <> $2
        AND gateways.state <> 'ended' AND gateways.seen_ms > ${POSTGRES_NOW_MS} - $3::bigint`,
        [callId, cluster.id, DEAD_AFTER_MS],
      )
      .then(([found]) => {
        owner = found ?? null;
      });
    await settlesWithin(clock, asked, WAIT_MS);
    if (owner !== undefined) return owner;
    throw new TrunklineError(
      'shared_state_unavailable',
      'the database that the gateways share cannot be asked just now whose the call is; try again',
    );
  }
}
