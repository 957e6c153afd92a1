import type { CallTracer } from '../calls/call-tracer.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';

/** The settings of traces. */
export type TracingSettings = Pick<
  Settings,
  | 'OTEL_EXPORTER_OTLP_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_HEADERS'
  | 'OTEL_EXPORTER_OTLP_TIMEOUT'
  | 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  | 'OTEL_RESOURCE_ATTRIBUTES'
  | 'OTEL_SERVICE_NAME'
  | 'OTEL_TRACES_SAMPLER'
  | 'OTEL_TRACES_SAMPLER_ARG'
>;

/** What tracing works with. */
export interface TracingParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Tracing that is on. */
export interface Tracing {
  readonly tracer: CallTracer;
  /** Sends what waits, for two seconds at most. What comes afterwards is dropped. Never rejects. */
  close(): Promise<void>;
}
