/** The metrics of hints beside calls. */
import { LAG_SECONDS, type MetricMaker } from './metric-maker.ts';

/** `metrics.hints` */
export class HintMetrics {
  readonly shown;
  readonly asked;
  readonly asking;
  readonly askSeconds;

  constructor(make: MetricMaker) {
    this.shown = make.counter('trunkline_hints_total', 'Hints that were shown beside calls', ['source']);
    this.asked = make.counter('trunkline_hint_requests_total', 'Requests to a language model for a hint', ['outcome']);
    this.asking = make.gauge('trunkline_hint_requests_open', 'Requests for a hint that are not answered yet', []);
    this.askSeconds = make.histogram(
      'trunkline_hint_request_seconds',
      'Time to the answer to a request for a hint',
      [],
      [...LAG_SECONDS, 10, 20, 60],
    );
  }
}
