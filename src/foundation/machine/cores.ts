/** How many processor cores this process may use. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { posix } from 'node:path';

const GROUPS = '/sys/fs/cgroup';
/** More than control groups are ever nested. */
const GROUPS_MAX = 32;

/** Reads the text of a file; null when it cannot be read. */
export type ReadText = (path: string) => string | null;

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/**
 * The cores that this process may run on, or the quota of its control group if that is less (it may be a fraction).
 * Containers and services with a limit have a quota: `docker run --cpus 2`, systemd's
 * `CPUQuota=`. https://docs.kernel.org/admin-guide/cgroup-v2.html, "cpu.max"; for version 1
 * https://docs.kernel.org/scheduler/sched-bwc.html.
 */
export function coresAvailable(cores: number = availableParallelism(), read: ReadText = readText): number {
  const quotas = [...quotasOf(read('/proc/self/cgroup') ?? '', read), oldQuota(read)];
  return Math.min(cores, ...quotas.filter((quota) => quota > 0));
}

/** The quotas of this process's group and of its parents. In a container the group may appear as the root. */
function quotasOf(groups: string, read: ReadText): number[] {
  const ours = /^0::(\/.*)$/m.exec(groups)?.[1] ?? '/';
  const quotas: number[] = [];
  let group = posix.normalize(ours);
  for (let depth = 0; depth < GROUPS_MAX; depth++) {
    const [quota, period] = (read(posix.join(GROUPS, group, 'cpu.max')) ?? '').trim().split(' ');
    quotas.push(share(quota, period));
    if (group === '/') break;
    group = posix.dirname(group);
  }
  return quotas;
}

function oldQuota(read: ReadText): number {
  const [quota, period] = ['cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((name) =>
    read(posix.join(GROUPS, 'cpu', name))?.trim(),
  );
  return share(quota, period);
}

/** 0 = no limit: the quota is `max`, -1 or missing. */
function share(quota: string | undefined, period: string | undefined): number {
  const cores = Number(quota) / Number(period);
  return Number.isFinite(cores) && cores > 0 ? cores : 0;
}
