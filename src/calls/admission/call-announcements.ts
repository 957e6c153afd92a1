/** Calls that were announced before their media comes, for carriers whose media says nothing but an id. */

import type { Clock } from '../../foundation/clock.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import { OneUse } from './one-use.ts';
import type { CallParties } from './tokens.ts';

/** Announcements outstanding at once. */
const ANNOUNCED_MAX = 2000;

/** What is known of a call beforehand. */
export interface Announcement extends CallParties {
  readonly parameters: Readonly<Record<string, string>>;
}

/** The announcements whose calls have not come yet. They expire after ten minutes. */
export class CallAnnouncements {
  readonly #waiting: OneUse<Announcement>;

  constructor(options: { readonly clock: Clock }) {
    this.#waiting = new OneUse({ clock: options.clock, itemsMax: ANNOUNCED_MAX });
  }

  /** The media of the call `callId` is coming. Announced again, the later word holds. */
  announce(callId: string, announcement: Announcement): void {
    this.#waiting.put(callId, announcement);
  }

  /** `start` with what was announced of its call, which is thereby used up; itself when nothing was. */
  complete(start: CallStart): CallStart {
    const announced = this.#waiting.take(start.callId);
    return announced === null
      ? start
      : { ...start, ...announced, parameters: { ...start.parameters, ...announced.parameters } };
  }
}
