import { availableParallelism } from 'node:os';
import { describe, expect, it } from 'vitest';
import { coresAvailable } from '../../../src/foundation/machine/cores.ts';

const reader = (files: Record<string, string>) => (path: string) => files[path] ?? null;
const OURS = { '/proc/self/cgroup': '0::/system.slice/trunkline.service\n' };
const SERVICE = '/sys/fs/cgroup/system.slice/trunkline.service/cpu.max';

describe('coresAvailable', () => {
  it('is what the process may run on where nothing limits it', () => {
    expect(coresAvailable(8, reader({}))).toBe(8);
    expect(
      coresAvailable(8, reader({ ...OURS, [SERVICE]: 'max 100000\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' })),
    ).toBe(8);
    expect(coresAvailable()).toBeLessThanOrEqual(availableParallelism());
    expect(coresAvailable()).toBeGreaterThan(0);
  });

  it('is the quota of a container, which sees its own group as the root', () => {
    expect(
      coresAvailable(16, reader({ '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '200000 100000\n' })),
    ).toBe(2);
    expect(coresAvailable(16, reader({ '/sys/fs/cgroup/cpu.max': '50000 100000\n' }))).toBe(0.5);
  });

  it('is the least quota of our group and those around it', () => {
    const slice = '/sys/fs/cgroup/system.slice/cpu.max';
    expect(coresAvailable(16, reader({ ...OURS, [SERVICE]: '300000 100000\n' }))).toBe(3);
    expect(coresAvailable(16, reader({ ...OURS, [SERVICE]: '300000 100000\n', [slice]: '150000 100000\n' }))).toBe(1.5);
    expect(coresAvailable(2, reader({ ...OURS, [SERVICE]: '300000 100000\n' }))).toBe(2);
  });

  it('knows the older groups', () => {
    const old = (quota: string) => ({
      '/proc/self/cgroup': '4:cpu,cpuacct:/docker/abc\n0::/\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': quota,
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    });
    expect(coresAvailable(16, reader(old('400000\n')))).toBe(4);
    expect(coresAvailable(16, reader(old('-1\n')))).toBe(16);
  });

  it('is not misled by what it cannot read', () => {
    const odd = { '/proc/self/cgroup': '0::/../../..\n', '/sys/fs/cgroup/cpu.max': 'soon 0\n' };
    expect(coresAvailable(4, reader(odd))).toBe(4);
  });
});
