/** Notices that captions come late, and that they come in time again: of one track, and in the log for all of them. */
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';

/** Captions later than this have fallen behind; later than people bear in a conversation. */
export const LATE_MS = 1000;
/**
 * They have caught up when they were no later than this for so long: a machine at its limit is otherwise late and in
 * time by turns.
 */
const IN_TIME_MS = 500;
const IN_TIME_FOR_MS = 5000;
/** The log says so this often at most, however many tracks there are. */
const WARN_EVERY_MS = 10_000;

/** What a {@link LagWatch} found; `lagMs` as in {@link LagEvent}. */
export interface LagChange {
  readonly type: 'lag.started' | 'lag.ended';
  readonly lagMs: number;
}

/** The lag of one track, as it is told from time to time. */
export class LagWatch {
  readonly #clock: Clock;
  readonly #onChange: (change: LagChange) => void;
  /** The worst since it fell behind; null = it has not. */
  #worstMs: number | null = null;
  #inTimeSinceMs: number | null = null;

  constructor(clock: Clock, onChange: (change: LagChange) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Captions are `lagMs` late now, or one was when it came. */
  note(lagMs: number): void {
    if (this.#worstMs === null) {
      if (lagMs > LATE_MS) this.#begin(lagMs);
      return;
    }
    this.#worstMs = Math.max(this.#worstMs, lagMs);
    if (lagMs > IN_TIME_MS) {
      this.#inTimeSinceMs = null;
      return;
    }
    const nowMs = this.#clock.nowMs();
    this.#inTimeSinceMs ??= nowMs;
    if (nowMs - this.#inTimeSinceMs >= IN_TIME_FOR_MS) this.end();
  }

  /** No more captions come: what has fallen behind does so no longer. */
  end(): void {
    if (this.#worstMs === null) return;
    const lagMs = Math.round(this.#worstMs);
    this.#worstMs = null;
    this.#inTimeSinceMs = null;
    this.#onChange({ type: 'lag.ended', lagMs });
  }

  #begin(lagMs: number): void {
    this.#worstMs = lagMs;
    this.#onChange({ type: 'lag.started', lagMs: Math.round(lagMs) });
  }
}

/**
 * The tracks of a gateway that have fallen behind: counted, and told in the log, but not each of many that fall behind
 * together.
 */
export class LagTally {
  readonly #clock: Clock;
  readonly #metrics: Pick<Metrics, 'tracksBehind' | 'lags'>;
  #behind = 0;
  #warnedAtMs: number | null = null;
  #unsaid = 0;

  constructor(clock: Clock, metrics: Pick<Metrics, 'tracksBehind' | 'lags'>) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** A track of the call whose log is `log` has fallen behind, or caught up. */
  note(log: Log, track: string, { type, lagMs }: LagChange): void {
    this.#behind += type === 'lag.started' ? 1 : -1;
    this.#metrics.tracksBehind.set(this.#behind);
    if (type === 'lag.ended') return;
    this.#metrics.lags.inc();
    this.#warn(log, { track, lagMs, tracksBehind: this.#behind });
  }

  #warn(log: Log, found: { readonly track: string; readonly lagMs: number; readonly tracksBehind: number }): void {
    const nowMs = this.#clock.nowMs();
    if (this.#warnedAtMs !== null && nowMs - this.#warnedAtMs < WARN_EVERY_MS) {
      this.#unsaid++;
      return;
    }
    log.warn({ ...found, warningsLeftOut: this.#unsaid }, 'captions come late: the engines are overloaded');
    this.#warnedAtMs = nowMs;
    this.#unsaid = 0;
  }
}
