/** How steadily the sound of a gateway reaches a caller while others call, too. */
import { FRAME_MS } from '../../src/foundation/units.ts';
import { figure, quantile, type Table } from './report.ts';

const GOAL_P99_MS = 10;

/** What was found with so many calls. */
interface PacedStep {
  readonly calls: number;
  /** Ms between two frames of sound at the caller who is talked to. */
  readonly gapsMs: readonly number[];
}

function jitterOf({ gapsMs }: PacedStep): number[] {
  return gapsMs.map((gapMs) => Math.abs(gapMs - FRAME_MS));
}

/** A row for each step: by how much frames came too early or too late after the one before. */
export function pacingTable(steps: readonly PacedStep[]): Table {
  return {
    title: 'Sound at the caller',
    heads: ['calls', `frames of ${FRAME_MS} ms`, 'gap p50, ms', 'jitter (off 20 ms) p50', 'p95', 'p99', 'most'],
    rows: steps.map((step) => [
      step.calls,
      step.gapsMs.length,
      figure(quantile(step.gapsMs, 0.5), 1),
      ...[0.5, 0.95, 0.99, 1].map((share) => figure(quantile(jitterOf(step), share), 1)),
    ]),
  };
}

/** What is asked of the steadiness with so many calls as `step` had. */
export function pacingGoal(step: PacedStep | undefined, calls: number): { goal: string; found: string; met: boolean } {
  const p99Ms = step === undefined ? Number.NaN : quantile(jitterOf(step), 0.99);
  return {
    goal: `jitter of the sound at the caller p99 ≤ ${GOAL_P99_MS} ms at ${calls} calls`,
    found: `${figure(p99Ms, 1)} ms`,
    met: p99Ms <= GOAL_P99_MS,
  };
}
