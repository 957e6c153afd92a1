/** What answers in a Realtime session: the operator's app, or a chat endpoint. */
import type { Item } from './wire/items.ts';
import type { CancelReason } from './wire/outgoing-response.ts';
import type { OutputConfig } from './wire/output-config.ts';

/** What an answer is asked for with. */
export interface Question {
  /** The latest items of the conversation. */
  readonly items: readonly Item[];
  /** What users said or wrote since the question before. */
  readonly said: string;
  readonly output: OutputConfig;
}

/** Whom a brain tells. */
export interface BrainEvents {
  /** More of the answer; it may come unasked. @throws TrunklineError `answer_too_long`, and takes none of it */
  onText(text: string): void;
  /** The client is to call a function, whose arguments follow. */
  onCall(name: string, callId: string): void;
  onArguments(json: string): void;
  /** The answer is complete. */
  onDone(): void;
  /**
   * There is no answer, or no more of it. `complaint` repeats nothing that was said; `cause` is for the log alone, null
   * where there is no more to say.
   */
  onFailed(complaint: string, cause: string | null): void;
  /** The brain has ended the session; what it said before is still to be heard. */
  onEnd(): void;
}

/** One for each session. Nothing is told after `close`. */
export interface Brain {
  /** The session begins: whoever speaks first may speak. */
  begin(output: OutputConfig): void;
  /** Asks for an answer; the one before is over. */
  ask(question: Question): void;
  /**
   * The answer is not wanted any more; `turn_detected`: the user speaks, and is to be answered with what that adds.
   * Returns whether nothing of that answer comes later, unless it is asked for again.
   */
  cancel(reason: CancelReason): boolean;
  /** Of the latest answer only `text` was heard, in `ms`. Follows `cancel` if any of the answer had come. */
  heard(text: string, ms: number): void;
  close(): void;
}
