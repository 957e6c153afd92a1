/** The metrics of the servers that recognise (ASR_URL). */
import { Gauge, type Registry } from 'prom-client';
import { LAG_SECONDS, type MetricMaker } from './metric-maker.ts';

/** How one server is, read whenever the metrics are. */
interface BackendState {
  readonly isUp: boolean;
  readonly inFlight: number;
}

/** `metrics.recognisers` */
export class RemoteMetrics {
  readonly requests;
  readonly seconds;
  readonly finals;
  readonly #backends = new Map<string, () => BackendState>();

  constructor(make: MetricMaker, registry: Registry) {
    this.requests = make.counter(
      'trunkline_asr_backend_requests_total',
      'Requests to the servers of ASR_URL, and what came of them',
      ['backend', 'result'],
    );
    this.seconds = make.histogram(
      'trunkline_asr_backend_seconds',
      'Time that the servers of ASR_URL took for an answer',
      ['backend', 'urgency'],
      LAG_SECONDS,
    );
    this.finals = make.counter('trunkline_asr_backend_finals_total', 'With ASR_URL: finals, by who read them and why', [
      'backend',
      'reason',
    ]);
    this.#gauge(registry, 'trunkline_asr_backend_up', 'Whether a server of ASR_URL is asked', ({ isUp }) =>
      isUp ? 1 : 0,
    );
    this.#gauge(
      registry,
      'trunkline_asr_backend_in_flight',
      'Requests that a server of ASR_URL has',
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
