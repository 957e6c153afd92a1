/** Ends the PostgreSQL servers that workers share between files: a worker does not know which file is its last. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endSharedServers, SHARED_SERVERS } from './postgres.ts';

/** Before all tests, for vitest's `globalSetup`: the folder of the servers. */
export function setup(): void {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-servers-'));
  // The server may be another user's, who goes through it.
  chmodSync(folder, 0o755);
  process.env[SHARED_SERVERS] = folder;
}

/** After all tests. */
export async function teardown(): Promise<void> {
  const folder = process.env[SHARED_SERVERS] ?? '';
  await endSharedServers(folder);
  rmSync(folder, { recursive: true, force: true });
}
