/** Traces of calls, for those who have an OpenTelemetry collector. Without one nothing of OpenTelemetry is loaded. */
import type { Part } from '../parts/part.ts';
import type { TracingSettings } from './tracing.ts';

/** On where a collector is named. */
export const tracing: Part = {
  name: 'tracing',
  isOn: (settings) => collectorUrl(settings) !== '',
  open: async (services) => {
    const { settings } = services;
    const { OtlpTracing } = await import('./otlp-tracing.ts');
    const opened = new OtlpTracing(collectorUrl(settings), settings, services);
    return { tracer: opened.tracer, release: () => opened.close() };
  },
};

/** https://opentelemetry.io/docs/specs/otel/protocol/exporter/#endpoint-urls-for-otlphttp */
function collectorUrl(settings: TracingSettings): string {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = settings;
  if (own !== '') return own;
  return base === '' ? '' : `${base}/v1/traces`;
}
