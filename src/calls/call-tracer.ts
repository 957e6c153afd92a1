/** How calls tell what they do and how long it takes, for those who follow them in time. Times are ms on the clock. */
import type { ErrorCode } from '../foundation/errors.ts';
import type { Track } from '../protocols/dialect.ts';
import type { SettledUtterance } from '../transcription/live-transcriber.ts';
import type { CallCounts } from './call-view.ts';
import type { EndReason } from './feed/events.ts';
import type { SentenceReport } from './outbound/spoken-utterance.ts';

/** A call that begins. */
export interface TracedCall {
  readonly callId: string;
  readonly carrier: string;
  /** When we dialled it; null = the other side made it. */
  readonly dialledAt: Date | null;
  /** The address of its app or of its TwiML; null = it has none. */
  readonly app: string | null;
}

/** A socket that never became a call: it was refused, or it was one of ours that nobody took. */
export interface FailedCall {
  readonly carrier: string;
  /** Of a call that we make; null = of one that never said which it is. */
  readonly callId: string | null;
  readonly sinceMs: number;
  /** Why it was refused; null = it was not. */
  readonly error: ErrorCode | null;
  readonly reason: EndReason;
}

/** Follows the calls of a gateway. No function of it throws or waits. */
export interface CallTracer {
  begin(call: TracedCall): CallTrace;
  onFailed(call: FailedCall): void;
}

/** What an app's conversation tells of its turns. */
export interface AppTrace {
  /** Names the call's span to other programs (https://www.w3.org/TR/trace-context/#traceparent-header). */
  readonly traceparent: string;
  /** The app was told what the caller said in a turn. */
  onPrompt(): void;
  /** The app says something. */
  onAnswer(): void;
}

/** Follows one call. */
export interface CallTrace extends AppTrace {
  /** A final caption of the caller is out, or was kept back because it is our own echo. */
  onCallerFinal(utterance: number, isEcho: boolean): void;
  /** An utterance has come to its final. */
  onUtterance(track: Track, settled: SettledUtterance): void;
  /** Something that we say begins to sound. */
  onSounding(): void;
  /** A sentence was heard, or was cut off. */
  onSentence(sentence: SentenceReport): void;
  /** The call is over: nothing more is told of it. */
  end(ending: { readonly reason: EndReason; readonly durationMs: number; readonly counts: CallCounts }): void;
}
