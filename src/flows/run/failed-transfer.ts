/** What became of the transfer that a call comes back from, as its carrier names it. */
import type { FailedTransfer } from '../verbs/step.ts';

const FAILED: readonly string[] = ['busy', 'unanswered', 'refused', 'unsupported'] satisfies FailedTransfer[];

/** Null = `text` is none. */
export function readFailedTransfer(text: string | undefined): FailedTransfer | null {
  return text !== undefined && FAILED.includes(text) ? (text as FailedTransfer) : null;
}
