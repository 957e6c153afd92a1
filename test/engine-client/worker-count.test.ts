import { describe, expect, it } from 'vitest';
import { finalWorkersOf, workersOf } from '../../src/engine-client/engine-client-factory.ts';
import { defaultWorkers } from '../../src/engine-client/worker-count.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';

describe('defaultWorkers', () => {
  it('uses both of two cores, keeps one back on larger machines, and stops at 8', () => {
    expect([1, 2, 3, 4, 8, 9, 64].map(defaultWorkers)).toEqual([1, 2, 2, 3, 7, 8, 8]);
  });
});

describe('workersOf', () => {
  it.each([
    ['cores, on a CPU', {}, 3, 0],
    ['one for each GPU', { EXECUTION_PROVIDER: 'cuda', CUDA_DEVICE: '0,1,5' }, 3, 0],
    ['one for the only GPU', { EXECUTION_PROVIDER: 'cuda' }, 1, 0],
    ['what ENGINE_WORKERS says', { EXECUTION_PROVIDER: 'cuda', CUDA_DEVICE: '0,1', ENGINE_WORKERS: '4' }, 4, 0],
    [
      'half as many with a second recogniser',
      { EXECUTION_PROVIDER: 'cuda', CUDA_DEVICE: '0,1', ASR_FINAL_MODEL: 'x' },
      2,
      1,
    ],
    ['one for each processor that is set aside', { ENGINE_CPUS: '2-3' }, 2, 0],
    ['at most 8 on processors that are set aside', { ENGINE_CPUS: '0-15' }, 8, 0],
    ['one for each GPU on processors that are set aside', { EXECUTION_PROVIDER: 'cuda', ENGINE_CPUS: '2-3' }, 1, 0],
    ['as the cores say where a GPU need not be there', { EXECUTION_PROVIDER: 'auto', CUDA_DEVICE: '0,1' }, 3, 0],
  ])('is %s', (_what, environment, workers, finalWorkers) => {
    const settings = readSettings(environment);
    expect([workersOf(settings, 4), finalWorkersOf(settings, 4)]).toEqual([workers, finalWorkers]);
  });
});
