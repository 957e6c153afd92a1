/** The metrics of the webhooks of calls. */
import type { MetricMaker } from './metric-maker.ts';

/** `metrics.records.webhooks` */
export class WebhookMetrics {
  readonly attempts;
  readonly waiting;

  constructor(make: MetricMaker) {
    this.attempts = make.counter('trunkline_call_webhooks_total', 'Attempts to deliver a webhook of a call', [
      'outcome',
    ]);
    this.waiting = make.gauge('trunkline_call_webhooks_waiting', 'Webhooks of calls that wait to be delivered', []);
  }
}
