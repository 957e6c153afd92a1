/** Ends the PostgreSQL servers that workers share between files: a worker does not know which file is its last. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endSharedServers, SHARED_SERVERS } from './postgres.ts';

/** For vitest's `globalSetup`. */
export default function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-servers-'));
  // The server may be another user's, who goes through it.
  chmodSync(folder, 0o755);
  process.env[SHARED_SERVERS] = folder;
  return async () => {
    await endSharedServers(folder);
    rmSync(folder, { recursive: true, force: true });
  };
}
