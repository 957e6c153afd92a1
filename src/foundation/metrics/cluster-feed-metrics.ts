/** The metrics of the feed that several gateways share. */
import { type MetricMaker, SHORT_SECONDS } from './metric-maker.ts';

/** `metrics.clusterFeed` */
export class ClusterFeedMetrics {
  readonly backlog;
  readonly degraded;
  readonly failures;
  readonly lost;
  readonly read;
  readonly delaySeconds;

  constructor(make: MetricMaker) {
    this.backlog = make.measured('trunkline_feed_backlog', 'Events that wait to be given to the other gateways');
    this.degraded = make.gauge(
      'trunkline_feed_degraded',
      '1 = readers get the calls of this gateway alone: the feed of all gateways cannot be reached',
      [],
    );
    this.failures = make.counter(
      'trunkline_feed_failures_total',
      'Times that the feed of all gateways could no longer be reached',
      [],
    );
    this.lost = make.counter('trunkline_feed_lost_total', 'Events that other gateways never get, by why', ['reason']);
    this.read = make.counter('trunkline_feed_read_total', 'Events of all gateways that were read', []);
    this.delaySeconds = make.histogram(
      'trunkline_feed_delay_seconds',
      'From the publication of an event of this gateway until its own readers have it',
      [],
      SHORT_SECONDS,
    );
  }
}
