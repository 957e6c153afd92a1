/** Which apps can be reached, as far as calls have found out. */
import type { Clock } from '../../foundation/clock.ts';
import type { ConnectionOutcome } from './connection.ts';

/** Calls may name apps: the ones that were used last are remembered. */
const APPS_MAX = 20;

/** Failed connections since the app was last reached. */
export interface AppTrouble {
  readonly reason: string;
  readonly count: number;
  readonly since: Date;
  readonly last: Date;
}

/** One app. */
export interface AppReach {
  /** Its address without query. */
  readonly app: string;
  /** When a connection was last made; null = never since the start. */
  readonly reachedAt: Date | null;
  /** Null = the latest connection was made. */
  readonly trouble: AppTrouble | null;
}

/** The apps of one gateway. */
export class AppReachability {
  readonly #clock: Clock;
  /** The one that was used last at the end. */
  readonly #apps = new Map<string, AppReach>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The app that was used last comes first. */
  list(): AppReach[] {
    return [...this.#apps.values()].toReversed();
  }

  /** A connection to the app at `url` went like this; `reason` as AppConnection tells it. */
  note(url: string, outcome: ConnectionOutcome, reason: string | null): void {
    const app = appAddress(url);
    const before = this.#apps.get(app) ?? { app, reachedAt: null, trouble: null };
    if (outcome === 'connected') this.#put({ app, reachedAt: this.#clock.wall(), trouble: null });
    if (outcome === 'refused' || outcome === 'lost') this.#put({ ...before, trouble: this.#add(before, reason) });
  }

  #add({ trouble }: AppReach, reason: string | null): AppTrouble {
    const now = this.#clock.wall();
    return {
      reason: reason ?? trouble?.reason ?? 'unknown',
      count: (trouble?.count ?? 0) + 1,
      since: trouble?.since ?? now,
      last: now,
    };
  }

  #put(reach: AppReach): void {
    this.#apps.delete(reach.app);
    this.#apps.set(reach.app, reach);
    const [oldest] = this.#apps.keys();
    if (this.#apps.size > APPS_MAX && oldest !== undefined) this.#apps.delete(oldest);
  }
}

/** An address without what may be secret in it: user, password, query and fragment. */
export function appAddress(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
