import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { openSqliteRecords } from '../../src/records/sqlite-records.ts';
import { openToldGateway } from './told-calls.ts';

const KILLS = Number(process.env['TRUNKLINE_TEST_KILLS'] ?? 4);
const LINES_BEFORE_KILL_MAX = 5;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-crash-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Records until it is killed in the middle of a write. Resolves with the ids that it said to be stored. */
async function recordUntilKilled(path: string, linesBeforeKill: number, delayMs: number): Promise<string[]> {
  const child = spawn(process.execPath, [packagePath('test', 'fakes', 'recording-process.mjs'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
    if (text.split('\n').length > linesBeforeKill) setTimeout(() => child.kill('SIGKILL'), delayMs);
  });
  await ended;
  return text.split('\n').slice(0, -1).join(' ').split(' ');
}

it(`nothing that was stored is lost when the process is killed in the middle of writes, ${KILLS} times`, async () => {
  const path = join(folder, 'records.sqlite');
  const stored = new Set<string>();
  for (let kill = 0; kill < KILLS; kill++) {
    const lines = 1 + (kill % LINES_BEFORE_KILL_MAX);
    for (const id of await recordUntilKilled(path, lines, (kill * 37) % 100)) stored.add(id);
  }
  const database = await openSqliteRecords(path);
  const { records, feed } = openToldGateway(database);
  await records.recover(feed);
  expect((await sql<{ integrity_check: string }>`pragma integrity_check`.execute(database.db)).rows).toEqual([
    { integrity_check: 'ok' },
  ]);
  await sql`insert into texts_index (texts_index) values ('integrity-check')`.execute(database.db);
  const rows = await database.db.selectFrom('events').select(['epoch', 'number', 'type', 'call_seq']).execute();
  const found = new Set(rows.map(({ epoch, number }) => `${epoch}-${number}`));
  expect(stored.size).toBeGreaterThan(20 * KILLS);
  expect([...stored].filter((id) => !found.has(id))).toEqual([]);

  // No half transactions: what a call says of itself is what its events say.
  const finals = new Map<number, number>();
  for (const { type, call_seq } of rows) if (type === 'caption') finals.set(call_seq, (finals.get(call_seq) ?? 0) + 1);
  const calls = await database.db.selectFrom('calls').selectAll().execute();
  expect(calls.filter(({ seq, finals: counted }) => counted !== (finals.get(seq) ?? 0))).toEqual([]);
  expect(calls.filter(({ state }) => state !== 'ended')).toEqual([]);
  expect(calls.filter(({ end_reason }) => end_reason === 'server_lost').length).toBeGreaterThanOrEqual(KILLS);
  const endings = rows.filter(({ type }) => type === 'call.ended').map(({ call_seq }) => call_seq);
  expect(endings.toSorted((a, b) => a - b)).toEqual(calls.map(({ seq }) => seq).toSorted((a, b) => a - b));
  await database.close();
});
