/** The metrics of traces of calls. */
import type { MetricMaker } from './metric-maker.ts';

/** `metrics.tracing` */
export class TracingMetrics {
  readonly sent;
  readonly dropped;

  constructor(make: MetricMaker) {
    this.sent = make.counter('trunkline_spans_sent_total', 'Spans that the collector took', []);
    this.dropped = make.counter('trunkline_spans_dropped_total', 'Spans that were dropped, by why', ['reason']);
  }
}
