import { Backoff } from '../foundation/backoff.ts';

/** Delays between the attempts of one engine request that fails: 100 ms, doubled each time, at most 2 s. */
export function newRetryBackoff(): Backoff {
  return new Backoff({ firstMs: 100, longestMs: 2000 });
}
