/** How an engine process is forked. */
import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { childEnvironment } from '../foundation/settings/config.ts';
import { TASKSET, tasksetArguments } from './cpu-pinning.ts';
import type { ProcessOptions } from './process-options.ts';

/**
 * What keeps an engine small and quick, measured (CONTRIBUTING.md): one heap for all threads, what a model run or
 * loading needed for a while goes back to the system, and weights lie in huge pages where the system has them, for
 * every token reads all of them. Of glibc's allocator; others do not look at these (mallopt(3), and glibc's manual on
 * tunables).
 */
export const ENGINE_ENVIRONMENT = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: String(4 * 2 ** 20),
  MALLOC_TRIM_THRESHOLD_: String(16 * 2 ** 20),
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
};

/** How the system is to run it. */
type ForkOptions = Pick<ProcessOptions, 'niceness' | 'cpus'>;

/** Messages and their samples are all that an engine's JavaScript makes: 1 MB is enough to collect them in. */
const NODE_FLAGS = ['--max-semi-space-size=1'];

/**
 * Forks an engine process whose main file is at `entry`, with a channel for typed arrays and its output in pipes.
 * Throws when the system refuses to fork.
 * @param options `niceness` as in nice(1), which stays where the system does not let it be changed; `cpus` = the
 * processors that it runs on, empty = all
 */
export function forkEngine(entry: string, { niceness, cpus }: ForkOptions): ChildProcess {
  // Two processes cannot share an inspector's port.
  const flags = [...NODE_FLAGS, ...process.execArgv.filter((flag) => !flag.startsWith('--inspect'))];
  const isPinned = cpus.length > 0;
  const child = fork(entry, [], {
    serialization: 'advanced',
    env: childEnvironment(ENGINE_ENVIRONMENT),
    execPath: isPinned ? TASKSET : process.execPath,
    // taskset becomes what it starts, so that the process id and the channel are the engine's.
    execArgv: isPinned ? [...tasksetArguments(cpus), process.execPath, ...flags] : flags,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  if (niceness !== 0 && child.pid !== undefined) slowDown(child.pid, niceness);
  return child;
}

function slowDown(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended, or the system forbids it: then it runs as the others do.
  }
}
