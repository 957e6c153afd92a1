/** How one test went. */
import type { TakenStep } from '../../flows/testing/observed-call.ts';

export interface TestResult {
  /** As the command line names it. */
  readonly file: string;
  readonly flow: string;
  readonly name: string;
  /** Empty = it passed. */
  readonly failures: readonly string[];
  /** What both sides did. */
  readonly dialogue: readonly string[];
  /** Wall time. */
  readonly durationMs: number;
  /** From the end of what the caller did to the flow's next sound. */
  readonly answersMs: readonly number[];
  readonly steps: readonly TakenStep[];
}
