/** Engine processes on processors of their own: ENGINE_CPUS. */
import { spawnSync } from 'node:child_process';

/** The program of util-linux that starts another one on some processors: taskset(1). */
export const TASKSET = 'taskset';

const TASKSET_MAX_MS = 5000;
const ALLOWED_LINE = /^Cpus_allowed_list:\s*([\d,-]+)$/m;

/** What taskset is told before the command that it starts on `cpus`. */
export function tasksetArguments(cpus: readonly number[]): string[] {
  return ['--cpu-list', cpus.join(',')];
}

/**
 * Why engines cannot run on `cpus`, or null. It is tried with a process: a container may have fewer processors than
 * its machine, and the system leaves out those that are not there without a word (sched_setaffinity(2)).
 * @param program stands in for taskset in tests
 */
export function findCpuProblem(cpus: readonly number[], program: string = TASKSET): string | null {
  if (cpus.length === 0) return null;
  const got = `ENGINE_CPUS: got ${cpus.join(',')}`;
  if (process.platform !== 'linux') return `${got}, but only Linux can pin processes: unset it`;
  const status = [...tasksetArguments(cpus), 'cat', '/proc/self/status'];
  const { error, stdout, stderr } = spawnSync(program, status, { encoding: 'utf8', timeout: TASKSET_MAX_MS });
  if (error !== undefined)
    return `${got}, but ${program} cannot be run (${error.message}): install util-linux, or unset it`;
  const allowed = ALLOWED_LINE.exec(stdout)?.[1];
  if (allowed === undefined)
    return `${got}, but this process may use none of them (${stderr.trim()}): \`lscpu -e\` shows which there are`;
  const missing = cpus.filter((cpu) => !isIn(allowed, cpu));
  if (missing.length === 0) return null;
  return `${got}, but this process may not use ${missing.join(',')}: \`lscpu -e\` shows which there are`;
}

/** Whether the list `allowed`, such as 0-3,8, has `cpu`. */
function isIn(allowed: string, cpu: number): boolean {
  return allowed.split(',').some((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return first <= cpu && cpu <= last;
  });
}
