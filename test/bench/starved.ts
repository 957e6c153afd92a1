/**
 * Takes CPU time away from processes as the CPU quota of a container does: in each 100 ms they run for a part, and are
 * stopped for the rest. Signals to processes of one's own need no rights, and do the same for root.
 */
import { type Clock, systemClock } from '../../src/foundation/clock.ts';

/** As of the CFS bandwidth controller (`cpu.max`). */
const PERIOD_MS = 100;

/** Stops the processes that `pids` names now for `share` (0–1) of the time. Returns what ends that. */
export function starve(pids: () => readonly number[], share: number, clock: Clock = systemClock): () => void {
  let stopped: readonly number[] = [];
  let isOver = false;
  const resume = (): void => {
    for (const pid of stopped) signal(pid, 'SIGCONT');
    stopped = [];
  };
  const begin = (): void => {
    if (isOver) return;
    stopped = pids();
    for (const pid of stopped) signal(pid, 'SIGSTOP');
    const stoppedAtMs = clock.nowMs();
    clock.after(PERIOD_MS * share, () => {
      resume();
      // Whoever is late himself took more: they get as much more.
      clock.after(((clock.nowMs() - stoppedAtMs) * (1 - share)) / share, begin);
    });
  };
  begin();
  return () => {
    isOver = true;
    resume();
  };
}

/** One that has ended meanwhile needs none. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    return;
  }
}
