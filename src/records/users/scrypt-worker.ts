/**
 * A thread that derives scrypt hashes. It takes the time that captions leave: on Linux a thread has a priority of its
 * own, elsewhere the change would be one of the whole process.
 */
import { scryptSync } from 'node:crypto';
import { setPriority } from 'node:os';
import { serveWork } from '../../foundation/workers/worker-thread.ts';
import type { ScryptTask } from './passwords.ts';

/** Of a busy core this leaves about a tenth, so that a sign-in takes seconds then, not minutes. */
const NICE = 10;
/** Node allows 32 MiB unless told. */
const MEMORY_FACTOR = 2;

if (process.platform === 'linux') setPriority(NICE);

function derive({ password, salt, ln, r, p, bytes }: ScryptTask): Uint8Array {
  const cost = 2 ** ln;
  return scryptSync(password, salt, bytes, {
    cost,
    blockSize: r,
    parallelization: p,
    maxmem: MEMORY_FACTOR * 128 * cost * r,
  });
}

serveWork<ScryptTask, Uint8Array>({
  begin: (task) => ({ next: () => derive(task), close: () => undefined }),
  transfer: () => [],
});
