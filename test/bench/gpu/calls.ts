/** How many live calls a device holds, by what its passes cost. */
import type { BatchTime } from './timing.ts';

/** How a call uses the recogniser, for the estimate. */
export interface CallUse {
  readonly name: string;
  /** Passes in a second of call, both sides together. */
  readonly passesPerSecond: number;
  /** Tokens of a pass behind its draft. */
  readonly newTokens: number;
}

/** People speak about half of the time; a pass each 400 ms is what CHUNK_MS asks for by default. */
export const CALL_USES: readonly CallUse[] = [
  { name: 'a caption each 400 ms', passesPerSecond: 1.25, newTokens: 5 },
  { name: 'a caption each 800 ms', passesPerSecond: 0.63, newTokens: 6 },
  { name: 'finals alone', passesPerSecond: 0.2, newTokens: 20 },
];

/** Above this share of its time a device makes calls wait. */
const LOAD_MAX = 0.7;

/** Live calls that the device holds if each run is shared by so many rows. */
export function callsHeld({ rows, encodeMs, promptMs, tokenMs }: BatchTime, use: CallUse): number {
  const passMs = (encodeMs + promptMs + (use.newTokens - 1) * tokenMs) / rows;
  return Math.floor((1000 * LOAD_MAX) / (use.passesPerSecond * passMs));
}
