/** Who comes in, where several gateways are one service. */
import type { FastifyRequest } from 'fastify';
import type { SharedAttempts } from '../../cluster/state/shared-attempts.ts';
import type { SharedSessions } from '../../cluster/state/shared-sessions.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import { isSameSecret } from '../../foundation/timing-safe.ts';
import { claimsToBeForwarded, clusterProofOf, readPrincipal } from '../forward/forwarded.ts';
import { keyOf, sessionOf } from './credentials.ts';
import type { Principal } from './principal.ts';
import { SessionWatch } from './session-watch.ts';
import type { Sessions } from './sessions.ts';
import { SharedCounts } from './shared-counts.ts';

/** How long whoever signs in or out waits for the database. */
const STORE_WAIT_MS = 2000;

/** What several gateways know of who comes in. */
export interface SharedAccess {
  readonly sessions: Pick<SharedSessions, 'find' | 'living'>;
  readonly attempts: Pick<SharedAttempts, 'add' | 'forgive'>;
  /** CLUSTER_KEY. */
  readonly key: string;
  /** What other gateways show to this one. */
  readonly proof: string;
}

interface ClusterAccessOptions {
  readonly clock: Clock;
  readonly shared: SharedAccess;
  readonly refreshUsers: () => Promise<void>;
}

/** The part of the access rules of one gateway that knows of the others. */
export class ClusterAccess {
  /** Of wrong keys and passwords. */
  readonly counts: SharedCounts;
  readonly #options: ClusterAccessOptions;
  readonly #forwarded = new WeakMap<FastifyRequest, Principal>();
  /** Requests whose session nobody could be asked for, and why. */
  readonly #unknown = new WeakMap<FastifyRequest, unknown>();
  #sessions: Sessions | null = null;
  #watch: SessionWatch | null = null;

  constructor(options: ClusterAccessOptions) {
    const { clock, shared } = options;
    this.#options = options;
    this.counts = new SharedCounts({ clock, shared: shared.attempts });
  }

  /** Keeps `sessions` as the database has them; `onEnded` is called when one has ended elsewhere. */
  follow(sessions: Sessions, onEnded: () => void): void {
    const { clock, shared, refreshUsers } = this.#options;
    this.#sessions = sessions;
    this.#watch = new SessionWatch({ clock, sessions, shared: shared.sessions, refreshUsers, onEnded });
  }

  /** Resolves when other gateways know which sessions were opened and ended here, or after two seconds. */
  async settled(): Promise<void> {
    await settlesWithin(this.#options.clock, this.#sessions?.settled() ?? Promise.resolve(), STORE_WAIT_MS);
  }

  /** Who asked the gateway that passes the request on; null = nobody passes it on. */
  principalOf(request: FastifyRequest): Principal | null {
    return this.#forwarded.get(request) ?? null;
  }

  /**
   * Learns of a session that another gateway has opened, and whether another gateway passes the request on. Null =
   * there is nothing to wait for. `ofKey` is the session that asked for the request's key, if one did; `attempt` counts
   * wrong keys.
   * @throws TrunklineError `cluster_key_invalid`, `too_many_attempts` or `invalid_request`
   */
  prepare(
    request: FastifyRequest,
    ofKey: string | null,
    attempt: (isRight: () => boolean) => boolean,
  ): Promise<void> | null {
    if (claimsToBeForwarded(request)) {
      this.#take(request, attempt);
      return null;
    }
    const id = keyOf(request) === null ? sessionOf(request) : ofKey;
    if (id === null || this.#watch === null) return null;
    // Only a route that asks whose the session is cannot be answered without.
    return this.#watch.learn(id).catch((error: unknown) => void this.#unknown.set(request, error));
  }

  /** Throws why nobody could be asked for the session of a request, if that is so. */
  refuseUnknown(request: FastifyRequest): void {
    if (this.#unknown.has(request)) throw this.#unknown.get(request);
  }

  close(): void {
    this.#watch?.close();
    this.counts.close();
  }

  /** Only on routes that another gateway may have to answer: whoever has the key gets no further than a user does. */
  #take(request: FastifyRequest, attempt: (isRight: () => boolean) => boolean): void {
    const { proof } = this.#options.shared;
    const isRight = attempt(() => isSameSecret(clusterProofOf(request), proof));
    if (!isRight || request.ws || request.routeOptions.config.ownedBy === undefined)
      throw new TrunklineError(
        'cluster_key_invalid',
        'the request says that another gateway passes it on, and does not prove that its sender has the CLUSTER_KEY ' +
          'of this one and its GATEWAY_URL, or is not for a route that gateways pass on',
      );
    this.#forwarded.set(request, readPrincipal(request));
  }
}
