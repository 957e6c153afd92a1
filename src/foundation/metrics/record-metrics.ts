/** The metrics of the records of calls. */
import { type MetricMaker, SHORT_SECONDS } from './metric-maker.ts';

/** `metrics.records` */
export class RecordMetrics {
  readonly backlog;
  readonly written;
  readonly lost;
  readonly failures;
  readonly writeSeconds;

  constructor(make: MetricMaker) {
    this.backlog = make.gauge('trunkline_records_backlog', 'Events that wait to be stored', []);
    this.written = make.counter('trunkline_records_written_total', 'Events that were stored', []);
    this.lost = make.counter('trunkline_records_lost_total', 'Events that were not stored, by why', ['reason']);
    this.failures = make.counter(
      'trunkline_records_write_failures_total',
      'Times that the records could not be written; what was to be written is kept and tried again',
      [],
    );
    this.writeSeconds = make.histogram(
      'trunkline_records_write_seconds',
      'Time that one transaction of the records took',
      [],
      SHORT_SECONDS,
    );
  }
}
