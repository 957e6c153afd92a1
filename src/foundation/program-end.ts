import type { ChildProcess } from 'node:child_process';

/** How much of a program's error output is kept. */
const STDERR_MAX_CHARS = 4096;

/** How a program ended. */
export interface ProgramEnd {
  /** Null when it was killed. */
  readonly code: number | null;
  /** The signal that killed it; null when it exited. */
  readonly killedBy: NodeJS.Signals | null;
  /** The last part of its error output. */
  readonly stderr: string;
}

/** Resolves when the program in `child` has ended. Rejects when it cannot be started. */
export function programEnd(child: ChildProcess): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_MAX_CHARS);
    });
    child.once('error', reject);
    child.once('close', (code, killedBy) => resolve({ code, killedBy, stderr: stderr.trim() }));
  });
}
