/** Spans of calls in memory, and how a test reads them. */
import { type Attributes, SpanStatusCode } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { Clock } from '../../src/foundation/clock.ts';
import { CallSpans } from '../../src/tracing/call-spans.ts';

/** Keeps the spans of one test. */
export class SpanTree {
  readonly #exporter = new InMemorySpanExporter();
  readonly #sampler: Sampler | null;

  constructor(sampler: Sampler | null = null) {
    this.#sampler = sampler;
  }

  /** A tracer of calls whose spans are kept here. */
  open(clock: Clock): CallSpans {
    const provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(this.#exporter)],
      ...(this.#sampler === null ? {} : { sampler: this.#sampler }),
    });
    return new CallSpans({ tracer: provider.getTracer('test'), clock });
  }

  get all(): ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  /** The spans with that name, in the order in which they ended. */
  of(name: string): ReadableSpan[] {
    return this.all.filter((span) => span.name === name);
  }

  /** The attributes of the first span with that name, without the prefix. */
  attributes(name: string): Attributes {
    const entries = Object.entries(this.of(name)[0]?.attributes ?? {});
    return Object.fromEntries(entries.map(([key, value]) => [key.replace('trunkline.', ''), value]));
  }

  /** Each span on a line, below its parent: name, when it began after the root, how long it took, what went wrong. */
  get lines(): string[] {
    const roots = this.all.filter(({ parentSpanContext }) => parentSpanContext === undefined);
    return roots.flatMap((root) => this.#below(root, root, 0));
  }

  #below(root: ReadableSpan, span: ReadableSpan, depth: number): string[] {
    const fault = span.status.code === SpanStatusCode.ERROR ? ` ! ${span.attributes['error.type']}` : '';
    const fromMs = Math.round(msOf(span.startTime) - msOf(root.startTime));
    const line = `${'  '.repeat(depth)}${span.name} ${fromMs}+${Math.round(msOf(span.duration))}${fault}`;
    const children = this.all
      .filter(({ parentSpanContext }) => parentSpanContext?.spanId === span.spanContext().spanId)
      .sort((a, b) => msOf(a.startTime) - msOf(b.startTime));
    return [line, ...children.flatMap((child) => this.#below(root, child, depth + 1))];
  }
}

function msOf([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1000 + nanoseconds / 1e6;
}
