/** When each way in last worked, and when and why it last failed. */
import type { MetricMaker } from './metric-maker.ts';

/** Carriers by their names, and what must work before their calls can come. */
export type WayIn = 'twilio_webhook' | 'ari' | 'sip_registration' | (string & {});

/** How a way in went lately; null = it did not happen since the start. */
export interface WayInTimes {
  readonly workedAt: Date | null;
  /** The latest one; `inARow` = how many there were since it last worked. */
  readonly failure: { readonly at: Date; readonly reason: string; readonly inARow: number } | null;
}

/** Reasons may come from the other side: no more of them become labels of one way in. */
const REASONS_MAX = 20;
const OTHER_REASON = 'other';

/** `metrics.waysIn` */
export class WayInMetrics {
  readonly #worked;
  readonly #failed;
  readonly #times = new Map<string, WayInTimes>();
  readonly #reasons = new Map<string, Set<string>>();

  constructor(make: MetricMaker) {
    this.#worked = make.gauge('trunkline_way_in_worked_timestamp_seconds', 'When a way in last worked', ['way']);
    this.#failed = make.gauge('trunkline_way_in_failed_timestamp_seconds', 'When a way in last failed, by why', [
      'way',
      'reason',
    ]);
  }

  /** A call came in, or a connection was made. */
  worked(way: WayIn, at: Date): void {
    const { failure } = this.of(way);
    this.#times.set(way, { workedAt: at, failure: failure && { ...failure, inARow: 0 } });
    this.#worked.set({ way }, at.getTime() / 1000);
  }

  /** `reason` = a code of errors.md or a few words; nothing private. */
  failed(way: WayIn, reason: string, at: Date): void {
    const { workedAt, failure } = this.of(way);
    this.#times.set(way, { workedAt, failure: { at, reason, inARow: (failure?.inARow ?? 0) + 1 } });
    this.#failed.set({ way, reason: this.#labelOf(way, reason) }, at.getTime() / 1000);
  }

  /** How `way` went lately. */
  of(way: WayIn): WayInTimes {
    return this.#times.get(way) ?? { workedAt: null, failure: null };
  }

  #labelOf(way: string, reason: string): string {
    const reasons = this.#reasons.get(way) ?? new Set<string>();
    this.#reasons.set(way, reasons);
    if (reasons.size < REASONS_MAX) reasons.add(reason);
    return reasons.has(reason) ? reason : OTHER_REASON;
  }
}
