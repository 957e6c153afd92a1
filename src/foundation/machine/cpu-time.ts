import { readFileSync } from 'node:fs';

/** USER_HZ, which is 100 on every architecture that Node runs on: time(7). */
const TICK_MS = 10;
/** Behind the program's name, which may have spaces and brackets; utime and stime of proc_pid_stat(5). */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;

/**
 * CPU time in ms that all threads of process `pid` have used, in steps of 10 ms; null where the system does not tell
 * (it is not Linux), and when there is no such process. @param read the text of a file; throws when there is none
 */
export function cpuTimeOf(pid: number, read = (path: string) => readFileSync(path, 'utf8')): number | null {
  try {
    const stat = read(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD]);
    return Number.isNaN(ticks) ? null : ticks * TICK_MS;
  } catch {
    return null;
  }
}
