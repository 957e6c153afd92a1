import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Log } from '../foundation/log/log.ts';
import type { TracingMetrics } from '../foundation/metrics/tracing-metrics.ts';

/** Spans that may wait for the collector, those under way included: some 6 MB. Further ones are dropped. */
const WAITING_MAX = 4096;
/** Spans in one request: they are written as JSON in one go, in about a millisecond. */
const BATCH_SPANS = 128;
const SEND_EVERY_MS = 2000;
/** The exporter keeps to its own limit; this ends what it does not end. */
const GRACE_MS = 1000;
const REASON_MAX_CHARS = 100;

interface SpanQueueOptions {
  readonly exporter: SpanExporter;
  /** The exporter's longest time for one delivery. */
  readonly timeoutMs: number;
  readonly metrics: TracingMetrics;
  readonly log: Log;
}

type ExportResult = Parameters<Parameters<SpanExporter['export']>[1]>[0];

/**
 * Spans on their way to the collector, in batches and within limits. What cannot be delivered is dropped, counted, and
 * told in the log once until spans are delivered again.
 */
export class SpanQueue implements SpanProcessor {
  readonly #options: SpanQueueOptions;
  readonly #batches: BatchSpanProcessor;
  #waiting = 0;
  #isFailing = false;
  #closed = false;

  constructor(options: SpanQueueOptions) {
    const { exporter, timeoutMs } = options;
    this.#options = options;
    this.#batches = new BatchSpanProcessor(
      {
        export: (spans, done) =>
          exporter.export(spans, (result) => {
            this.#note(spans.length, result);
            done(result);
          }),
        forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
        shutdown: () => exporter.shutdown(),
      },
      {
        maxQueueSize: WAITING_MAX,
        maxExportBatchSize: BATCH_SPANS,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: timeoutMs + GRACE_MS,
      },
    );
  }

  onStart(): void {
    // Only spans that have ended are sent.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#closed || this.#waiting >= WAITING_MAX) {
      this.#options.metrics.dropped.inc({ reason: 'queue' });
      return;
    }
    this.#waiting++;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    this.#closed = true;
    return this.#batches.shutdown();
  }

  #note(spans: number, { code, error }: ExportResult): void {
    const { metrics, log } = this.#options;
    this.#waiting -= spans;
    if (code === 0) {
      metrics.sent.inc(spans);
      if (this.#isFailing) log.info('spans of calls are delivered again');
      this.#isFailing = false;
      return;
    }
    metrics.dropped.inc({ reason: 'failed' }, spans);
    if (!this.#isFailing) log.warn({ reason: reasonOf(error) }, 'spans of calls cannot be delivered and are dropped');
    this.#isFailing = true;
  }
}

/** The code of a network error or the status of an answer; else the beginning of the message, which the SDK wrote. */
function reasonOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  const { code, message = 'no answer' } = error ?? {};
  return typeof code === 'string' || typeof code === 'number' ? String(code) : message.slice(0, REASON_MAX_CHARS);
}
