/**
 * Calls as spans. docs/guide/tracing.md has all of them with their attributes: times, counts and ids, never words,
 * names or phone numbers.
 */
import { type Context, ROOT_CONTEXT, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { CallTrace, CallTracer, FailedCall, TracedCall } from '../calls/call-tracer.ts';
import type { EndReason } from '../calls/feed/events.ts';
import type { SentenceReport } from '../calls/outbound/spoken-utterance.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Track } from '../protocols/dialect.ts';
import type { SettledUtterance } from '../transcription/live-transcriber.ts';
import { makeSentence } from './sentence-spans.ts';
import { markFailed, SpanMaker } from './span-maker.ts';
import { TurnSpans } from './turn-spans.ts';
import { makeUtterance } from './utterance-spans.ts';

/** Ends for which somebody has something to mend. */
const BAD_ENDS: readonly EndReason[] = ['error', 'lost', 'timeout', 'app_unreachable'];

/** Follows the calls of a gateway, each as a trace of its own. */
export class CallSpans implements CallTracer {
  readonly #tracer: Tracer;
  readonly #clock: Clock;

  constructor({ tracer, clock }: { tracer: Tracer; clock: Clock }) {
    this.#tracer = tracer;
    this.#clock = clock;
  }

  begin(call: TracedCall): CallTrace {
    return new OneCall(new SpanMaker(this.#tracer, this.#clock), call);
  }

  onFailed({ carrier, callId, sinceMs, error, reason }: FailedCall): void {
    const maker = new SpanMaker(this.#tracer, this.#clock);
    const isOutgoing = callId !== null;
    const span = maker.root('call', { ms: sinceMs }, isOutgoing ? SpanKind.CLIENT : SpanKind.SERVER);
    if (!span.isRecording()) return;
    span.setAttributes({
      'trunkline.carrier': carrier,
      'trunkline.call.direction': isOutgoing ? 'outgoing' : 'incoming',
      'trunkline.call.end_reason': reason,
    });
    if (isOutgoing) span.setAttribute('trunkline.call.id', callId);
    if (error !== null) markFailed(span, error);
    maker.end(span);
  }
}

class OneCall implements CallTrace {
  readonly traceparent: string;
  readonly #maker: SpanMaker;
  readonly #callId: string;
  readonly #root: Span;
  readonly #context: Context;
  readonly #turns: TurnSpans;
  /** The caller's utterance that was last found to be our own echo. */
  #echo: number | null = null;

  constructor(maker: SpanMaker, { callId, carrier, dialledAt, app }: TracedCall) {
    const { nowMs } = maker;
    this.#maker = maker;
    this.#callId = callId;
    this.#root = maker.root(
      'call',
      dialledAt === null ? { ms: nowMs } : { at: dialledAt },
      dialledAt === null ? SpanKind.SERVER : SpanKind.CLIENT,
    );
    this.#root.setAttributes({
      'trunkline.call.id': callId,
      'trunkline.carrier': carrier,
      'trunkline.call.direction': dialledAt === null ? 'incoming' : 'outgoing',
    });
    // The path may be secret. That of a flow has no origin.
    if (app !== null && /^(?:ws|http)s?:/.test(app) && URL.canParse(app))
      this.#root.setAttribute('trunkline.app.origin', new URL(app).origin);
    if (dialledAt !== null) maker.note(this.#root, 'answered');
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#root);
    this.#turns = new TurnSpans(maker, { context: this.#context, callId });
    const { traceId, spanId, traceFlags } = this.#root.spanContext();
    this.traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  onCallerFinal(utterance: number, isEcho: boolean): void {
    if (isEcho) this.#echo = utterance;
    else this.#turns.onFinal();
  }

  onUtterance(track: Track, settled: SettledUtterance): void {
    if (!this.#root.isRecording()) return;
    const isEcho = track === 'inbound' && settled.utterance === this.#echo;
    makeUtterance(this.#maker, this.#context, { callId: this.#callId, track, settled, isEcho });
  }

  onPrompt(): void {
    if (this.#root.isRecording()) this.#turns.onPrompt();
  }

  onAnswer(): void {
    this.#turns.onAnswer();
  }

  onSounding(): void {
    this.#turns.onSounding();
  }

  onSentence(sentence: SentenceReport): void {
    if (this.#root.isRecording()) makeSentence(this.#maker, this.#context, { callId: this.#callId, sentence });
  }

  end({ reason, durationMs, counts }: Parameters<CallTrace['end']>[0]): void {
    this.#turns.end();
    this.#root.setAttributes({
      'trunkline.call.end_reason': reason,
      'trunkline.call.audio_ms': durationMs,
      'trunkline.call.finals': counts.finals,
      'trunkline.call.spoken': counts.spoken,
      'trunkline.call.keys': counts.keys,
      'trunkline.call.gaps': counts.gaps,
    });
    if (BAD_ENDS.includes(reason)) markFailed(this.#root, reason);
    this.#maker.end(this.#root);
  }
}
