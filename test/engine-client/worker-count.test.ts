import { describe, expect, it } from 'vitest';
import { defaultWorkers } from '../../src/engine-client/worker-count.ts';

describe('defaultWorkers', () => {
  it('uses both of two cores, keeps one back on larger machines, and stops at 8', () => {
    expect([1, 2, 3, 4, 8, 9, 64].map(defaultWorkers)).toEqual([1, 2, 2, 3, 7, 8, 8]);
  });
});
