/** Tells the log of a time in which nothing can be stored: at once, each minute while it lasts, and of its end. */
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import { Notices } from '../foundation/log/notices.ts';

const PERIOD_MS = 60_000;

/** What is told of an outage. */
interface OutageState {
  /** Events that wait in memory. */
  readonly events: number;
  /** Events that were lost since the start. */
  readonly lost: number;
}

/** The outages of one recorder, one after the other. */
export class OutageNotes {
  readonly #clock: Clock;
  readonly #log: Log;
  #notices: Notices;
  #reason = '';
  #sinceMs: number | null = null;
  #lostBefore = 0;
  /** It is over, and so many events that waited are not stored yet. */
  #toCatchUp: { readonly events: number; readonly lost: number } | null = null;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
    this.#notices = new Notices(clock, PERIOD_MS);
  }

  /** A write failed. Another reason than before is told at once. */
  note(reason: string, { events, lost }: OutageState): void {
    if (this.#sinceMs === null) {
      this.#sinceMs = this.#clock.nowMs();
      this.#lostBefore = lost;
      this.#notices = new Notices(this.#clock, PERIOD_MS);
    }
    if (reason !== this.#reason) this.#notices = new Notices(this.#clock, PERIOD_MS);
    this.#reason = reason;
    this.tick({ events, lost });
  }

  /** Time has passed. */
  tick({ events, lost }: OutageState): void {
    if (this.#sinceMs === null || !this.#notices.isDue('outage')) return;
    this.#log.error(
      { reason: this.#reason, events, lost: lost - this.#lostBefore, lastedMs: this.#lastedMs() },
      'the records cannot be written; calls go on, and events wait in memory',
    );
  }

  /** A write succeeded. */
  end({ events, lost }: OutageState): void {
    if (this.#sinceMs === null) return;
    this.#log.info({ events, lastedMs: this.#lastedMs() }, 'the records can be written again');
    this.#toCatchUp = { events, lost: lost - this.#lostBefore };
    this.#sinceMs = null;
    this.#reason = '';
  }

  /** All that waited is stored. */
  caughtUp(): void {
    if (this.#toCatchUp === null || this.#sinceMs !== null) return;
    this.#log.info(this.#toCatchUp, 'what waited for the records is stored');
    this.#toCatchUp = null;
  }

  #lastedMs(): number {
    return Math.round(this.#clock.nowMs() - (this.#sinceMs ?? 0));
  }
}
