/** The metrics of the servers that recognise (ASR_URL) or speak (TTS_URL). */
import { Gauge, type Registry } from 'prom-client';
import { LAG_SECONDS, type MetricMaker } from './metric-maker.ts';

/** How one server is, read whenever the metrics are. */
interface BackendState {
  readonly isUp: boolean;
  readonly inFlight: number;
}

/** Whose metrics they are. */
export interface RemoteKind {
  /** What the names of the metrics begin with. */
  readonly prefix: string;
  /** The setting that names the servers. */
  readonly setting: string;
  /** What is counted by who did it: its name in the metric, and for people. */
  readonly works: readonly [name: string, people: string];
}

/** `metrics.recognisers`, `metrics.speakers` */
export class RemoteMetrics {
  readonly requests;
  readonly seconds;
  readonly works;
  readonly #backends = new Map<string, () => BackendState>();

  constructor(make: MetricMaker, registry: Registry, { prefix, setting, works: [works, people] }: RemoteKind) {
    this.requests = make.counter(
      `${prefix}_requests_total`,
      `Requests to the servers of ${setting}, and what came of them`,
      ['backend', 'result'],
    );
    this.seconds = make.histogram(
      `${prefix}_seconds`,
      `Time that the servers of ${setting} took for an answer`,
      ['backend', 'urgency'],
      LAG_SECONDS,
    );
    this.works = make.counter(`${prefix}_${works}_total`, `With ${setting}: ${people}, by who made them and why`, [
      'backend',
      'reason',
    ]);
    this.#gauge(registry, `${prefix}_up`, `Whether a server of ${setting} is asked`, ({ isUp }) => (isUp ? 1 : 0));
    this.#gauge(
      registry,
      `${prefix}_in_flight`,
      `Requests that a server of ${setting} has`,
      ({ inFlight }) => inFlight,
    );
  }

  /** Has the state of `backend` read. */
  watch(backend: string, read: () => BackendState): void {
    this.#backends.set(backend, read);
  }

  #gauge(registry: Registry, name: string, help: string, read: (state: BackendState) => number): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames: ['backend' as const],
      registers: [registry],
      collect: () => {
        for (const [backend, state] of this.#backends) gauge.set({ backend }, read(state()));
      },
    });
  }
}
