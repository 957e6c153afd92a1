/** What is run, and how it went. */
import type { FlowSet } from '../../flows/file/flow.ts';
import type { TakenStep } from '../../flows/testing/observed-call.ts';
import type { FlowTest, FlowTestFile } from '../../flows/testing/test-file.ts';

/** A test that is to be run. */
export interface TestRun {
  /** As the command line names it. */
  readonly file: string;
  readonly tests: Pick<FlowTestFile, 'voice'> & { readonly flow: string };
  /** With what the file says for all its tests. */
  readonly test: FlowTest;
  /** Where each line of the script stands in the file, from 1. */
  readonly lines: readonly number[];
  readonly set: FlowSet;
}

/** How one test went. */
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

/** Runs tests. */
export interface TestRunner {
  /** Never rejects because of the test. */
  run(run: TestRun): Promise<TestResult>;
  close(): Promise<void>;
}
