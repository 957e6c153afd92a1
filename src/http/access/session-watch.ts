/** Sessions that other gateways open and end, and users that they change. */
import type { SharedSessions } from '../../cluster/state/shared-sessions.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import type { StoredSession } from '../../records/users/stored-sessions.ts';
import { dropOldest } from './drop-oldest.ts';
import type { Sessions } from './sessions.ts';

/** What has ended elsewhere ends here so long after that, and an answer of the database later. */
const PERIOD_MS = 1000;
/** Somebody who asks, or a feed that goes on, is seen every 2 s. */
const IN_USE_MS = 5000;
/** So long a request waits for the database. */
const WAIT_MS = 1000;
/** A session that did not exist is not looked for again so soon. */
const UNKNOWN_MS = 5000;
/** Requests that wait for the database at once. */
const WAITING_MAX = 200;

interface WatchOptions {
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly shared: Pick<SharedSessions, 'find' | 'living'>;
  /** Reads the users that other gateways have changed. */
  readonly refreshUsers: () => Promise<void>;
  /** Called when a session has ended elsewhere. */
  readonly onEnded: () => void;
}

/** Keeps the sessions of one gateway as the database has them. */
export class SessionWatch {
  readonly #options: WatchOptions;
  readonly #timer: Timer;
  /** When an id was found to be nobody's, by its hash. */
  readonly #unknown = new Map<string, number>();
  #waiting = 0;
  #isLooking = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#timer = options.clock.every(PERIOD_MS, () => void this.#look(), true);
  }

  /**
   * Takes up the session `id` if another gateway has opened it.
   * @throws TrunklineError `shared_state_unavailable` when nobody can tell just now
   */
  async learn(id: string): Promise<void> {
    const { clock, sessions, shared } = this.#options;
    if (id === '') return;
    const hash = sessions.hashOf(id);
    if (sessions.knows(hash)) return;
    const missedMs = this.#unknown.get(hash);
    if (missedMs !== undefined && clock.nowMs() - missedMs < UNKNOWN_MS) return;
    if (this.#waiting >= WAITING_MAX) refuse();
    this.#waiting += 1;
    let found: StoredSession | null | undefined;
    const asked = shared.find(hash).then((stored) => {
      found = stored;
    });
    await settlesWithin(clock, asked, WAIT_MS);
    this.#waiting -= 1;
    if (found === undefined) refuse();
    if (found !== null) sessions.adopt(found);
    else {
      this.#unknown.delete(hash);
      this.#unknown.set(hash, clock.nowMs());
      dropOldest(this.#unknown);
    }
  }

  close(): void {
    this.#timer.cancel();
  }

  /** While the database is away, sessions stay as they are. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { clock, sessions, shared, refreshUsers, onEnded } = this.#options;
    try {
      await sessions.catchUp();
      const { used, idle } = sessions.byUse(clock.nowMs() - IN_USE_MS);
      const living = used.length === 0 ? new Set<string>() : await shared.living(used);
      const ended = used.filter((hash) => !living.has(hash));
      sessions.forget([...idle, ...ended]);
      if (ended.length > 0) onEnded();
      await refreshUsers();
    } catch {
      // The records tell that it is away.
    } finally {
      this.#isLooking = false;
    }
  }
}

function refuse(): never {
  throw new TrunklineError(
    'shared_state_unavailable',
    'the database that the gateways share cannot be asked for your session just now; try again',
  );
}
