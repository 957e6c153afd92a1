/**
 * The OpenTelemetry SDK, set up by our settings: it registers nothing globally, and looks at nothing of the machine.
 * Beside what is passed here it reads OTEL_EXPORTER_OTLP_CERTIFICATE, …_CLIENT_CERTIFICATE, …_CLIENT_KEY and
 * …_COMPRESSION from the environment by itself.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { packagePath } from '../foundation/folders/paths.ts';
import { parseKeyPairs } from '../foundation/settings/key-pairs.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import { CallSpans } from './call-spans.ts';
import { collectorAgent } from './collector-agent.ts';
import { SpanQueue } from './span-queue.ts';
import type { Tracing, TracingParts, TracingSettings } from './tracing.ts';

/** How long the end of the gateway waits for spans to be delivered. */
const CLOSE_MAX_MS = 2000;

export class OtlpTracing implements Tracing {
  readonly tracer: CallSpans;
  readonly #parts: TracingParts;
  readonly #provider: BasicTracerProvider;

  /** @param url where the collector takes spans */
  constructor(url: string, settings: TracingSettings, parts: TracingParts) {
    const { clock, log, metrics } = parts;
    const version = ownVersion();
    const timeoutMs = settings.OTEL_EXPORTER_OTLP_TIMEOUT;
    const exporter = new OTLPTraceExporter({
      url,
      headers: { ...parseKeyPairs(settings.OTEL_EXPORTER_OTLP_HEADERS) },
      timeoutMillis: timeoutMs,
      httpAgentOptions: collectorAgent(clock, timeoutMs),
    });
    this.#parts = parts;
    this.#provider = new BasicTracerProvider({
      resource: resourceOf(settings, version),
      sampler: new ParentBasedSampler({ root: rootSampler(settings) }),
      spanProcessors: [new SpanQueue({ exporter, timeoutMs, metrics: metrics.tracing, log })],
    });
    this.tracer = new CallSpans({ tracer: this.#provider.getTracer('trunkline', version), clock });
    // The path and the query may be secret.
    log.info({ collector: new URL(url).origin }, 'calls are traced');
  }

  async close(): Promise<void> {
    const { clock, log } = this.#parts;
    const isSent = await settlesWithin(clock, this.#provider.shutdown(), CLOSE_MAX_MS);
    if (!isSent) log.warn('the last spans of calls could not be delivered');
  }
}

/** Neither the host nor the process is described: only what the operator says. */
function resourceOf(settings: TracingSettings, version: string): Resource {
  const { OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME } = settings;
  const given = parseKeyPairs(OTEL_RESOURCE_ATTRIBUTES) ?? {};
  const own = { 'service.name': 'trunkline', 'service.version': version, 'service.instance.id': randomUUID() };
  const named = OTEL_SERVICE_NAME === '' ? {} : { 'service.name': OTEL_SERVICE_NAME };
  return defaultResource().merge(resourceFromAttributes({ ...own, ...given, ...named }));
}

function rootSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: TracingSettings): Sampler {
  if (name.endsWith('always_on')) return new AlwaysOnSampler();
  return name.endsWith('always_off') ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}

function ownVersion(): string {
  return (JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string }).version;
}
