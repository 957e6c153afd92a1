/** How many files this process may open. Imports nothing of ours: it is asked before anything is loaded. */
import { readFileSync } from 'node:fs';

/** Loading the program opens hundreds of files at once. */
const DESCRIPTORS_MIN = 512;

/** Node.js has raised the soft limit to the hard one by now. Null = it cannot be told here. */
export function readDescriptorLimit(): number | null {
  try {
    return parseDescriptorLimit(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return null;
  }
}

/** Of the text of `/proc/<pid>/limits`, proc(5); null = it names none, or there is no limit. */
export function parseDescriptorLimit(limits: string): number | null {
  const found = /^Max open files\s+(\d+)\s/m.exec(limits)?.[1];
  return found === undefined ? null : Number(found);
}

/** What is wrong with the limit, and what to do; null = nothing is. */
export function findDescriptorProblem(limit: number | null): string | null {
  if (limit === null || limit >= DESCRIPTORS_MIN) return null;
  return (
    `the limit of open files is ${limit} (ulimit -n), and Trunkline needs ${DESCRIPTORS_MIN} to start and more for ` +
    'calls: raise it, e.g. with "ulimit -n 4096", LimitNOFILE=65536 in a systemd unit, or docker run ' +
    '--ulimit nofile=65536:65536'
  );
}
