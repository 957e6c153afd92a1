import type { FinalHow, TimedDecode } from './utterance.ts';

/** How an utterance came to its final: when each step of it was, in ms on the clock. */
export interface SettledUtterance {
  /** Counts the track's utterances from 1. */
  readonly utterance: number;
  readonly how: FinalHow;
  /** Whether there is a final caption; false = it had no words. */
  readonly hasFinal: boolean;
  /** Where its speech begins, in ms of the call. */
  readonly startMs: number;
  /** Whether it was ended before it was silent for long enough. */
  readonly isCut: boolean;
  /** How long it is, from the first to the last of its speech. */
  readonly speechMs: number;
  /** How much of its end no text could be had of. */
  readonly lostMs: number;
  /** When its first speech, and its last, had arrived. */
  readonly startedMs: number;
  readonly stoppedMs: number;
  /** When its end was decided. */
  readonly decidedMs: number;
  /** When its final was out. */
  readonly settledMs: number;
  /** The decode that its text is; null where none could be had. */
  readonly decode: TimedDecode | null;
  /** Decodes of the final that failed before. */
  readonly failures: number;
}
