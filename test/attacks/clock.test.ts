/** A machine whose clock is 40 days ahead, over records that it would take for old. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { migrateInFolder, openInFolder } from '../../src/records/open-records.ts';
import { makeBackup } from '../../src/records/sqlite-backups.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';
import { addCall } from '../helpers/record-rows.ts';

const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_PRELOAD: 'false' };
const CALLS = 40;
/** Of Debian's package. The program `faketime` stays the gateway's parent, and takes the signals meant for it. */
const LIBRARY = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path));

let folder: string;
let gateway: GatewayProcess | null = null;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  const database = await openInFolder(folder);
  await migrateInFolder(database, folder, { clock: systemClock, tell: () => undefined });
  const nowMs = Date.now();
  for (let seq = 1; seq <= CALLS; seq++)
    await addCall(database.db, seq, [], { started_ms: nowMs - seq * 60_000, ended_ms: nowMs - seq * 50_000 });
  await makeBackup(database, { folder, why: 'request', now: new Date(nowMs) });
  await database.close();
});
afterEach(async () => {
  await gateway?.stop('SIGKILL');
  rmSync(folder, { recursive: true });
});

it.runIf(LIBRARY !== undefined)('deletes no call and no copy, and says so (with libfaketime)', async () => {
  const pretended = ['env', `LD_PRELOAD=${LIBRARY}`, 'FAKETIME=+40d', 'FAKETIME_DONT_FAKE_MONOTONIC=1'];
  const running = await startGateway({ ...PRETEND, DATA_DIR: folder }, pretended);
  gateway = running;
  const held = 'trunkline_records_retention_held{reason="clock_ahead"}';
  await expect.poll(async () => metricValue(await running.metrics(), held)).toBe(1);
  const ready = (await (await fetch(`${running.url}/ready`)).json()) as { warnings: string[] };
  expect(ready.warnings.join()).toContain('the clock says');
  const sweep = (await (await fetch(`${running.url}/v1/admin/db/sweep`)).json()) as { calls: object };
  expect(sweep.calls).toEqual({ due: CALLS, kept: CALLS });
  expect(readdirSync(join(folder, 'backups'))).toHaveLength(1);
});
