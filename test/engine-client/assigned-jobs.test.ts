import { describe, expect, it } from 'vitest';
import { ENGINE_RATE_HZ, type Urgency } from '../../engine/contract.ts';
import { AssignedJobs } from '../../src/engine-client/assigned-jobs.ts';
import { Job } from '../../src/engine-client/job.ts';

const COSTS = {
  transcribe: { perJobMs: 2, perSecondMs: 10 },
  detect: { perJobMs: 1, perSecondMs: 4 },
  speak: null,
  turn: { perJobMs: 40, perSecondMs: 0 },
};

let nextId = 1;

function assigned(...jobs: readonly (readonly [kind: 'transcribe' | 'turn', seconds: number, urgency?: Urgency])[]) {
  const all = new AssignedJobs();
  for (const [kind, seconds, urgency = 'final'] of jobs) {
    const samples = new Int16Array(seconds * ENGINE_RATE_HZ);
    const work =
      kind === 'turn'
        ? { kind, urgency: 'turn' as const, samples }
        : { kind, urgency: urgency as 'final' | 'batch', samples, draft: [] };
    all.add(new Job({ id: nextId++, work, nowMs: 0, dueInMs: 1000, tenant: '' }));
  }
  return all;
}

describe('the estimate of what goes before a job', () => {
  it('is the sum of all that is as urgent, where no run is shared', () => {
    expect(assigned(['transcribe', 1], ['transcribe', 3], ['turn', 1]).workBefore('partial', COSTS, 1)).toBe(84);
    expect(assigned(['transcribe', 1], ['transcribe', 3, 'batch']).workBefore('partial', COSTS, 1)).toBe(12);
  });

  it('counts readings that share runs once, and no less than the longest of them', () => {
    const four = assigned(['transcribe', 1], ['transcribe', 1], ['transcribe', 1], ['transcribe', 1], ['turn', 1]);
    expect([1, 2, 4, 16].map((batchMax) => four.workBefore('partial', COSTS, batchMax))).toEqual([88, 64, 52, 52]);
    expect(assigned(['transcribe', 1], ['transcribe', 9]).workBefore('partial', COSTS, 16)).toBe(92);
    expect(assigned().workBefore('partial', COSTS, 16)).toBe(0);
  });
});
