/** The metrics of the queues in which jobs wait for an engine. */
import { Gauge, type Registry } from 'prom-client';

/** Jobs that wait in the gateway for an engine, and for how long the oldest of them has. */
interface Lane {
  readonly depth: number;
  readonly ageMs: number;
}

/** The two queues of the gateway. */
export interface Lanes {
  readonly live: Lane;
  readonly batch: Lane;
}

/** The state of all queues together, read whenever the metrics are. */
export class LaneMetrics {
  readonly #registry: Registry;
  readonly #reads: (() => Lanes)[] = [];

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#gauge('trunkline_lane_depth', 'Jobs that wait in the gateway for an engine', ({ depth }) => depth);
    this.#gauge('trunkline_lane_age_seconds', 'How long the oldest of them has waited', ({ ageMs }) => ageMs / 1000);
  }

  /** Has `read` asked as well. */
  watch(read: () => Lanes): void {
    this.#reads.push(read);
  }

  #gauge(name: string, help: string, read: (lane: Lane) => number): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames: ['lane' as const],
      registers: [this.#registry],
      collect: () => {
        for (const lane of ['live', 'batch'] as const) gauge.set({ lane }, read(this.#sum(lane)));
      },
    });
  }

  #sum(name: keyof Lanes): Lane {
    const lanes = this.#reads.map((readLanes) => readLanes()[name]);
    return {
      depth: lanes.reduce((sum, { depth }) => sum + depth, 0),
      ageMs: Math.max(0, ...lanes.map(({ ageMs }) => ageMs)),
    };
  }
}
