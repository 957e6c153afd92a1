import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Job } from '../../src/engine-client/job.ts';

const WORK = { kind: 'speak', urgency: 'speak', text: 'hello', voice: 'rms', speed: 1, streamed: true } as const;
const LENGTH = 40;
const SOUND = Int16Array.from({ length: LENGTH }, (_, index) => index);

/** Where an engine cuts the sound that it makes; the last stretch is its answer. */
const cuts = fc
  .uniqueArray(fc.nat(LENGTH), { maxLength: 6 })
  .map((points) => [0, ...points.toSorted((a, b) => a - b), LENGTH]);

describe('a job whose sound is told as it is made', () => {
  it('gives each sample once, in order, whichever engines tell what of it and when', () => {
    fc.assert(
      fc.property(fc.array(cuts, { minLength: 1, maxLength: 3 }), fc.infiniteStream(fc.nat()), (engines, choices) => {
        const told: number[] = [];
        const onSound = (samples: Int16Array): void => void told.push(...samples);
        const job = new Job({ id: 1, work: WORK, nowMs: 0, dueInMs: 0, tenant: '', onSound });
        const at = engines.map(() => 0);
        for (;;) {
          const engine = (choices.next().value ?? 0) % engines.length;
          const points = engines[engine] ?? [];
          const index = at[engine] ?? 0;
          at[engine] = index + 1;
          const from = points[index] ?? 0;
          const samples = SOUND.subarray(from, points[index + 1]);
          if (index + 2 < points.length) {
            job.tell(samples, 16_000, from);
            continue;
          }
          const cost = { waitMs: 0, runMs: 0, runs: 1 };
          const rest = job.withoutKnown({ kind: 'spoken', id: 1, samples, rateHz: 16_000, cost }, from);
          expect([...told, ...rest.samples]).toEqual([...SOUND]);
          return;
        }
      }),
    );
  });
});
