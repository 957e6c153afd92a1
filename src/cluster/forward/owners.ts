/** Which gateway has a call, for requests that only it can answer. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import type { Cluster, ClusterMember } from '../cluster.ts';

/** How long a request waits for the database. */
const WAIT_MS = 1000;
/** Calls whose owner is remembered: it never changes. */
const KNOWN_MAX = 10_000;

interface OwnersOptions {
  readonly cluster: Pick<Cluster, 'id' | 'members' | 'ownerOf'>;
  readonly clock: Clock;
}

/** Finds other gateways. */
export class Owners {
  readonly #options: OwnersOptions;
  readonly #known = new LRUCache<string, string>({ max: KNOWN_MAX });

  constructor(options: OwnersOptions) {
    this.#options = options;
  }

  /** The other gateways that live. */
  others(): readonly ClusterMember[] {
    const { cluster } = this.#options;
    return cluster.members().filter(({ id }) => id !== cluster.id);
  }

  /**
   * The other gateway that has a call which is not over; null = it is ours, over, unknown, or its gateway is dead.
   * @throws TrunklineError `shared_state_unavailable` when nobody can tell just now
   */
  async otherOwnerOf(callId: string): Promise<ClusterMember | null> {
    const { cluster } = this.#options;
    const known = this.#known.get(callId);
    const remembered = known === undefined ? undefined : this.others().find(({ id }) => id === known);
    if (remembered !== undefined) return remembered;
    const owner = await this.#ask(callId);
    if (owner === null || owner.id === cluster.id) return null;
    this.#known.set(callId, owner.id);
    return owner;
  }

  async #ask(callId: string): Promise<ClusterMember | null> {
    const { cluster, clock } = this.#options;
    let owner: ClusterMember | null | undefined;
    const asked = cluster.ownerOf(callId).then((found) => {
      owner = found;
    });
    await settlesWithin(clock, asked, WAIT_MS);
    if (owner !== undefined) return owner;
    throw new TrunklineError(
      'shared_state_unavailable',
      'the database that the gateways share cannot be asked just now whose the call is; try again',
    );
  }
}
