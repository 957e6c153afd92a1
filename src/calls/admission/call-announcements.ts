/** Calls that were announced before their media comes, for carriers whose media says nothing but an id. */

import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { type MaybePromise, whenReady } from '../../foundation/maybe-promise.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import { type OneTime, type OneUseStore, openOneTime } from './shared-one-use.ts';
import type { CallParties } from './tokens.ts';

/** Announcements outstanding at once. */
const ANNOUNCED_MAX = 2000;

/** What is known of a call beforehand. */
export interface Announcement extends CallParties {
  readonly parameters: Readonly<Record<string, string>>;
}

interface AnnouncementsOptions {
  readonly clock: Clock;
  /** Where any gateway of a cluster finds them; absent or null = they are known here alone. */
  readonly store?: OneUseStore | null;
  readonly log?: Pick<Log, 'warn'>;
}

/** The announcements whose calls have not come yet. They expire after ten minutes. */
export class CallAnnouncements {
  readonly #waiting: OneTime<Announcement>;
  readonly #log: AnnouncementsOptions['log'];

  constructor({ clock, store = null, log }: AnnouncementsOptions) {
    this.#waiting = openOneTime({ clock, itemsMax: ANNOUNCED_MAX, kind: 'announcement', store });
    this.#log = log;
  }

  /** The media of the call `callId` is coming. Announced again, the later word holds. */
  announce(callId: string, announcement: Announcement): void {
    this.#waiting.put(callId, announcement);
  }

  /** Resolves when other gateways know what was announced so far, or after a second. Never rejects. */
  settled(): Promise<void> {
    return this.#waiting.settled();
  }

  /**
   * `start` with what was announced of its call, which is thereby used up; itself when nothing was, or when nobody can
   * tell just now. No promise where nothing is shared. Never rejects.
   */
  complete(start: CallStart): MaybePromise<CallStart> {
    const taken = this.#waiting.take(start.callId);
    return whenReady(taken instanceof Promise ? taken.catch(() => this.#warn(start)) : taken, (announced) =>
      announced === null
        ? start
        : { ...start, ...announced, parameters: { ...start.parameters, ...announced.parameters } },
    );
  }

  #warn({ callId, carrier }: CallStart): null {
    this.#log?.warn({ callId, carrier }, 'what was announced of a call cannot be asked for; it goes on without');
    return null;
  }
}
