/** Where a flow is when its call is given away, for a call that comes back from a transfer that came to nothing. */
import type { TransferOutcome } from '../../calls/leg.ts';
import type { FlowValues } from '../file/conditions.ts';
import type { Flow, FlowSet } from '../file/flow.ts';

/** What became of a transfer after all. */
export type FailedTransfer = Exclude<TransferOutcome, 'transferred'>;

/** The flows that are under way, the outermost first; the last of them is at the step `transfer`. */
export interface FlowPlace {
  readonly set: FlowSet;
  readonly frames: readonly { readonly flow: Flow; readonly values: FlowValues; readonly at: string | null }[];
  /** What a `language` step has chosen. */
  readonly spoken: { readonly language: string | null; readonly voice: string | null };
  /** How often each step was entered, and steps in all: the limits hold for both calls. */
  readonly visits: ReadonlyMap<string, number>;
  readonly steps: number;
}

/** A place that a call comes back to. */
export interface ReturnedPlace {
  readonly place: FlowPlace;
  readonly outcome: FailedTransfer;
}

const FAILED: readonly string[] = ['busy', 'unanswered', 'refused', 'unsupported'] satisfies FailedTransfer[];

/** Null = `text` is none. */
export function readFailedTransfer(text: string | undefined): FailedTransfer | null {
  return text !== undefined && FAILED.includes(text) ? (text as FailedTransfer) : null;
}
