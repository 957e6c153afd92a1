/** Traces of calls, for those who have an OpenTelemetry collector. Without one nothing of OpenTelemetry is loaded. */
import type { Tracing, TracingParts, TracingSettings } from './tracing.ts';

/** Null when no collector is named. */
export async function openTracing(settings: TracingSettings, parts: TracingParts): Promise<Tracing | null> {
  const url = collectorUrl(settings);
  if (url === '') return null;
  const { OtlpTracing } = await import('./otlp-tracing.ts');
  return new OtlpTracing(url, settings, parts);
}

/** https://opentelemetry.io/docs/specs/otel/protocol/exporter/#endpoint-urls-for-otlphttp */
function collectorUrl(settings: TracingSettings): string {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = settings;
  if (own !== '') return own;
  return base === '' ? '' : `${base}/v1/traces`;
}
