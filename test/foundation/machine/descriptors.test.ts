import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/foundation/log/log.ts';
import { watchDescriptors } from '../../../src/foundation/machine/descriptors.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { FakeClock, settle } from '../../fakes/clock.ts';

describe('a watch on file descriptors', () => {
  it('warns when they run short, and again only after there were enough', async () => {
    const clock = new FakeClock();
    const lines: string[] = [];
    const log = createLog('info', { write: (line: string) => void lines.push(line) });
    let open = 0;
    const timer = watchDescriptors({ read: async () => ({ open, max: 1000 }), clock, log });
    const warnings: number[] = [];
    for (open of [10, 810, 990, 750, 810, 600, 850]) {
      clock.advance(30_000);
      await settle();
      warnings.push(lines.length);
    }
    expect(warnings).toEqual([0, 1, 1, 1, 1, 1, 2]);
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({
      level: 40,
      open: 850,
      max: 1000,
      msg: expect.stringContaining('ulimit -n'),
    });
    timer.cancel();
    expect(clock.pending).toBe(0);
  });

  it('says nothing where the system does not tell', async () => {
    const clock = new FakeClock();
    watchDescriptors({ read: async () => null, clock, log: createLog('silent') });
    clock.advance(30_000);
    await settle();
  });

  it.runIf(process.platform === 'linux')('can be had from the metrics', async () => {
    const found = await new Metrics().readDescriptors();
    expect(found?.open).toBeGreaterThan(3);
    expect(found?.max).toBeGreaterThan(found?.open ?? 0);
  });
});
