/** Call ids that no two gateways of a cluster give to different calls. */
import type { CallSummary } from '../call-summary.ts';

/**
 * What became of a claim. `taken`: a stored call has that id. `unknown`: the store cannot be asked just now, which must
 * not cost the call.
 */
export type ClaimOutcome = 'ours' | 'taken' | 'unknown';

/** Where ids are claimed, by storing the call before anybody is told of it. */
export interface CallClaims {
  /** Resolves within two seconds. Never rejects. */
  claim(call: CallSummary): Promise<ClaimOutcome>;
  /** Gives a claimed id back: the call did not begin. Never throws. */
  release(id: string): void;
}
