/** Somebody looks into the live records with sqlite3, and then the power fails. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { nativeSqlite } from '../../src/foundation/database/native-sqlite.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';

const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_PRELOAD: 'false' };
const KEY = 'a-key-that-nobody-guesses';
const HAS_SQLITE = spawnSync('sqlite3', ['--version']).status === 0;

/** SQLite of Node has locks that sqlite3 sees. */
const IS_LOCKED = nativeSqlite() !== null;

let folder: string;
let gateway: GatewayProcess | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});
afterEach(async () => {
  await gateway?.stop('SIGKILL');
  rmSync(folder, { recursive: true });
});

const ask = (sql: string): string =>
  spawnSync('sqlite3', [join(folder, 'records', 'records.sqlite'), sql], { encoding: 'utf8' }).stdout.trim();

async function addUser({ url }: GatewayProcess, name: string): Promise<number> {
  const body = JSON.stringify({ name, role: 'app', key: true });
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  return (await fetch(`${url}/v1/admin/users`, { method: 'POST', headers, body })).status;
}

it.runIf(HAS_SQLITE)('loses nothing that was answered, and says so (with sqlite3)', async () => {
  const running = await startGateway({ ...PRETEND, DATA_DIR: folder, API_KEYS: KEY });
  gateway = running;
  expect(await addUser(running, 'before')).toBe(201);
  expect(ask('select count(*) from users')).toBe(IS_LOCKED ? '' : '1');
  expect(await addUser(running, 'after')).toBe(201);
  expect(ask('select count(*) from users')).toBe(IS_LOCKED ? '' : '2');
  expect(await addUser(running, 'last')).toBe(201);
  const headers = { authorization: `Bearer ${KEY}` };
  const page = await (await fetch(`${running.url}/metrics`, { headers })).text();
  expect(metricValue(page, 'trunkline_records_logs_lost_total')).toBe(IS_LOCKED ? 0 : 2);
  await running.stop('SIGKILL');
  expect(ask('select name from users order by name').split('\n')).toEqual(['after', 'before', 'last']);
});
