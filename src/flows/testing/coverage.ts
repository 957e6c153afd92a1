/** Which steps of flows the tests came through. */
import type { TakenStep } from './observed-call.ts';

/** The steps of a flow, in the order of its file. */
export interface StepsOfFlow {
  readonly flow: string;
  readonly steps: readonly string[];
}

/** How much of a flow was reached. */
export interface FlowCoverage {
  readonly flow: string;
  readonly reached: number;
  readonly total: number;
  readonly unreached: readonly string[];
}

/** Of each of `flows`. Steps of other flows are passed over. */
export function coverageOf(flows: readonly StepsOfFlow[], taken: readonly TakenStep[]): FlowCoverage[] {
  return flows.map(({ flow, steps }) => {
    const reached = new Set(taken.filter((step) => step.flow === flow).map(({ step }) => step));
    const unreached = steps.filter((step) => !reached.has(step));
    return { flow, reached: steps.length - unreached.length, total: steps.length, unreached };
  });
}
