/** What the feed tells of all calls together: how many at most and today, and how late their finals are. */
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { Feed } from '../../calls/feed/feed.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Metrics } from '../../foundation/metrics.ts';

/** Finals of this time count; of very many only the latest. */
export const LAG_WINDOW_MS = 300_000;
const LAGS_MAX = 4096;

interface CallWatchOptions {
  readonly feed: Pick<Feed, 'subscribeOwn'>;
  readonly metrics: Pick<Metrics, 'waysIn'>;
  readonly clock: Clock;
}

/** How late finals were; null = none came in the last minutes. */
export interface LagFigures {
  readonly finals: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

interface Lag {
  readonly atMs: number;
  readonly lagMs: number;
}

export class CallWatch {
  readonly #clock: Clock;
  readonly #metrics: CallWatchOptions['metrics'];
  readonly #live = new Set<string>();
  readonly #stop: () => void;
  #lags: Lag[] = [];
  #peak = 0;
  #day = '';
  #today = 0;

  constructor({ feed, metrics, clock }: CallWatchOptions) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#stop = feed.subscribeOwn({}, ({ event }) => this.#note(event));
  }

  /** Most calls at once since the start. */
  get peak(): number {
    return this.#peak;
  }

  /** Calls that began today, by the server's time zone, since the start. */
  get today(): number {
    return this.#day === this.#dayNow() ? this.#today : 0;
  }

  /** Of the finals of the last five minutes. */
  get finalLag(): LagFigures {
    this.#forgetOld();
    const sorted = this.#lags.map(({ lagMs }) => lagMs).toSorted((a, b) => a - b);
    const at = (share: number): number | null => sorted[Math.ceil(sorted.length * share) - 1] ?? null;
    return { finals: sorted.length, p50Ms: at(0.5), p95Ms: at(0.95) };
  }

  /** Ends the watch. */
  close(): void {
    this.#stop();
  }

  #note(event: FeedEvent): void {
    if (event.type === 'call.started') this.#begin(event);
    if (event.type === 'call.ended') this.#live.delete(event.callId);
    if (event.type === 'caption' && event.final) this.#addLag(event.lagMs);
  }

  #begin({ callId, carrier }: { readonly callId: string; readonly carrier: string }): void {
    this.#metrics.waysIn.worked(carrier, this.#clock.wall());
    this.#live.add(callId);
    this.#peak = Math.max(this.#peak, this.#live.size);
    this.#today = this.today + 1;
    this.#day = this.#dayNow();
  }

  #addLag(lagMs: number): void {
    this.#lags.push({ atMs: this.#clock.nowMs(), lagMs });
    if (this.#lags.length >= 2 * LAGS_MAX) this.#lags = this.#lags.slice(-LAGS_MAX);
  }

  #forgetOld(): void {
    const oldestMs = this.#clock.nowMs() - LAG_WINDOW_MS;
    this.#lags = this.#lags.filter(({ atMs }) => atMs >= oldestMs).slice(-LAGS_MAX);
  }

  #dayNow(): string {
    return this.#clock.wall().toDateString();
  }
}
