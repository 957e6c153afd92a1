import {
  type Attributes,
  type Context,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Clock } from '../foundation/clock.ts';

/** A span of the past: `startMs` and `endMs` are times on the clock. */
export interface PastSpan {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes?: Attributes;
  /** Whether another program did the work. `internal` unless said otherwise. */
  readonly kind?: 'internal' | 'client';
  /** A short name of what went wrong (https://opentelemetry.io/docs/specs/semconv/general/recording-errors/). */
  readonly error?: string | null;
}

/** Makes the spans of one trace, whose times are those of one clock. */
export class SpanMaker {
  readonly #tracer: Tracer;
  readonly #clock: Clock;
  /** Of ms on the clock, to ms since 1970. */
  readonly #offsetMs: number;

  constructor(tracer: Tracer, clock: Clock) {
    this.#tracer = tracer;
    this.#clock = clock;
    this.#offsetMs = clock.wall().getTime() - clock.nowMs();
  }

  get nowMs(): number {
    return this.#clock.nowMs();
  }

  /** Begins the root of the trace. */
  root(name: string, start: { readonly ms: number } | { readonly at: Date }, kind: SpanKind): Span {
    const startTime = 'ms' in start ? this.#at(start.ms) : start.at;
    return this.#tracer.startSpan(name, { startTime, kind, root: true }, ROOT_CONTEXT);
  }

  /** Makes a span, and returns the context for its children. */
  past(parent: Context, { name, startMs, endMs, attributes = {}, kind = 'internal', error = null }: PastSpan): Context {
    const startTime = this.#at(startMs);
    const spanKind = kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = this.#tracer.startSpan(name, { startTime, kind: spanKind, attributes }, parent);
    if (error !== null) markFailed(span, error);
    span.end(this.#at(Math.max(startMs, endMs)));
    return trace.setSpan(parent, span);
  }

  /** Ends a span now. */
  end(span: Span): void {
    span.end(this.#at(this.nowMs));
  }

  /** That something was, in a span that goes on. */
  note(span: Span, event: string): void {
    span.addEvent(event, this.#at(this.nowMs));
  }

  #at(ms: number): HrTime {
    const sinceEpochMs = this.#offsetMs + ms;
    const seconds = Math.floor(sinceEpochMs / 1000);
    return [seconds, Math.round((sinceEpochMs - seconds * 1000) * 1e6)];
  }
}

/** What `span` stands for went wrong. */
export function markFailed(span: Span, error: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', error);
}
