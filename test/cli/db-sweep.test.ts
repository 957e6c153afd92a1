/** `trunkline db sweep`, through a server and without one. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sweep } from '../../src/cli/db/sweep.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { migrateInFolder, openInFolder } from '../../src/records/open-records.ts';
import { RetentionClock } from '../../src/records/retention/retention-clock.ts';
import { addCall } from '../helpers/record-rows.ts';
import { captureTerminal } from '../helpers/terminal.ts';
import { listen, startServer } from '../http/test-server.ts';
import { DATABASES } from '../records/databases.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function run(environment: Readonly<Record<string, string>>, flags: Parameters<typeof sweep>[0]) {
  const { terminal, out } = captureTerminal();
  expect(await sweep(flags, readSettings({ DATA_DIR: folder, ...environment }), terminal)).toBe(0);
  return out.text;
}

it('asks the server, which deletes what it had kept back', async () => {
  const databases = DATABASES[0].start();
  const database = await databases.open();
  for (let seq = 1; seq <= 30; seq++) await addCall(database.db, seq, [], { ended_ms: 1 });
  const server = await startServer({ API_KEYS: 'k' }, undefined, undefined, null, database);
  await server.kept?.sweeper.sweep();
  const flags = { url: await listen(server.app), key: 'k' };
  const before = await run({}, flags);
  expect(before).toContain('30 of 30 calls');
  expect(before).toContain('Held: nothing is deleted: 30 of 30 calls would go at once');
  expect(await run({}, { ...flags, yes: true })).toContain('The server deletes them now.');
  await expect.poll(() => run({}, flags)).toContain('0 of 0 calls');
  await server.app.close();
  await databases.end();
});

it('leaves word in the records of a server that does not run', async () => {
  mkdirSync(join(folder, 'records'), { recursive: true });
  const database = await openInFolder(folder);
  await migrateInFolder(database, folder, { clock: systemClock, tell: () => undefined });
  for (let seq = 1; seq <= 30; seq++) await addCall(database.db, seq, [], { ended_ms: 1 });
  await database.close();
  expect(await run({ RETENTION_DAYS: '7' }, {})).toContain('Held: ');
  expect(await run({ RETENTION_DAYS: '7' }, { yes: true })).toContain('when it is started within a day');
  const again = await openInFolder(folder);
  expect((await new RetentionClock(again, systemClock).readStored()).goOnMs).not.toBe(null);
  await again.close();
});
