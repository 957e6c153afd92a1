/** The check of `trunkline doctor` for the records of calls. */
import { access, constants, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { describeTrouble, isDatabaseTrouble } from '../foundation/database/trouble.ts';
import type { Finding } from '../foundation/finding.ts';
import { ownerOf } from '../foundation/folders/folder-owner.ts';
import { freeBytes } from '../foundation/folders/folder-size.ts';
import { formatBytes } from '../foundation/format-bytes.ts';
import { ConfigError, NO_FOLDER } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { RECORDS_FILE } from '../records/data-folder.ts';
import { reportPostgres, requirePostgresRights } from '../records/postgres-records.ts';
import { RefusedEvents } from '../records/refused-events.ts';
import { serverOf } from './server-client.ts';

const LOW_BYTES = 500_000_000;
/** Below this nothing more can be kept for sure. */
const FULL_BYTES = 16_000_000;

/** Admitted clients alone are told of what wants somebody. */
const readyAnswer = z.object({ warnings: z.array(z.string()).optional() });

type RecordSettings = Pick<Settings, 'DATA_DIR' | 'DATABASE_URL' | 'RETENTION_DAYS' | 'RECORD' | 'isDataDirDefault'>;

/** Whether the records of calls can be kept where the settings say. It changes nothing there. */
export async function checkRecords(settings: RecordSettings): Promise<Finding[]> {
  const { DATABASE_URL, RETENTION_DAYS } = settings;
  const howLong = RETENTION_DAYS === 0 ? 'for ever' : `for ${RETENTION_DAYS} days`;
  const refused = await checkRefused(settings);
  if (DATABASE_URL === '') return [await checkFolder(settings, howLong), ...refused];
  return [await checkPostgres(DATABASE_URL, howLong), ...(await checkSoundFolder(settings)), ...refused];
}

/** What the database refused waits for somebody who looks at it. */
async function checkRefused({ DATA_DIR }: RecordSettings): Promise<Finding[]> {
  if (DATA_DIR === NO_FOLDER) return [];
  const kept = await new RefusedEvents(DATA_DIR).report().catch(() => null);
  if (kept === null || kept.events === 0) return [];
  const detail = `DATA_DIR/refused keeps ${kept.events} events of ${kept.calls.length} calls: see trunkline db refused`;
  return [{ name: 'refused events', status: 'warn', detail }];
}

/** With the records in PostgreSQL, sound and files of the server still lie in DATA_DIR. */
async function checkSoundFolder({ DATA_DIR, isDataDirDefault, RECORD }: RecordSettings): Promise<Finding[]> {
  const problem = DATA_DIR === NO_FOLDER ? 'it is none' : await problemOf(DATA_DIR);
  if (problem === null || (DATA_DIR === NO_FOLDER && RECORD === 'off')) return [];
  const status = isDataDirDefault && RECORD === 'off' ? 'warn' : 'fail';
  return [{ name: 'data folder', status, detail: `DATA_DIR=${DATA_DIR} cannot keep sound (${problem}): set another` }];
}

async function checkFolder(settings: RecordSettings, howLong: string): Promise<Finding> {
  const { DATA_DIR } = settings;
  if (DATA_DIR === NO_FOLDER)
    return { name: 'records', status: 'ok', detail: `nothing is kept of calls (DATA_DIR=${NO_FOLDER})` };
  const problem = await problemOf(DATA_DIR);
  if (problem !== null) {
    const status = settings.isDataDirDefault ? 'warn' : 'fail';
    return {
      name: 'records',
      status,
      detail: `${DATA_DIR} cannot be used (${problem}): set DATA_DIR to another folder`,
    };
  }
  const isInUse = (await ownerOf(DATA_DIR).catch(() => 'absent')) === 'living';
  const used = isInUse ? '; a server uses it now' : '';
  return { name: 'records', status: 'ok', detail: `kept ${howLong} in ${DATA_DIR} (${await sizeIn(DATA_DIR)})${used}` };
}

/** What the disk of DATA_DIR has left; none where nothing is kept there. */
export async function checkDisk({ DATA_DIR }: Pick<Settings, 'DATA_DIR'>, read = freeBytes): Promise<Finding[]> {
  if (DATA_DIR === NO_FOLDER) return [];
  const path = await nearest(DATA_DIR);
  const free = await read(path);
  if (free === null) return [];
  const detail = `${formatBytes(free)} are free on the disk of ${path}`;
  if (free >= LOW_BYTES) return [{ name: 'disk', status: 'ok', detail }];
  return [{ name: 'disk', status: free < FULL_BYTES ? 'fail' : 'warn', detail: `${detail}: make room there` }];
}

/** What the server that uses DATA_DIR warns of, e.g. that the calls of the next days will fill its disk. */
export async function checkServer(settings: Settings): Promise<Finding[]> {
  const { DATA_DIR } = settings;
  if (DATA_DIR === NO_FOLDER || (await ownerOf(DATA_DIR).catch(() => 'absent')) !== 'living') return [];
  // One that is not ready is told of where one asks for that.
  const { warnings = [] } = await serverOf({}, settings)
    .ask('GET', '/ready', readyAnswer)
    .catch(() => ({ warnings: [] }));
  return warnings.map((detail) => ({ name: 'server', status: 'warn', detail }));
}

/** The folder, or the nearest one above that is there. */
async function nearest(folder: string): Promise<string> {
  for (let path = folder; ; path = dirname(path)) {
    const found = await stat(path).catch(() => null);
    if (found !== null || path === dirname(path)) return path;
  }
}

async function checkPostgres(url: string, howLong: string): Promise<Finding> {
  try {
    const { place, sizeBytes, applied, pending } = await reportPostgres(url);
    if (applied.length > 0 && pending.length === 0) await requirePostgresRights(url);
    const toDo = pending.length === 0 ? '' : `; the next start applies ${pending.join(', ')}`;
    return { name: 'records', status: 'ok', detail: `kept ${howLong} in ${place} (${formatBytes(sizeBytes)})${toDo}` };
  } catch (error) {
    if (error instanceof ConfigError) return { name: 'records', status: 'fail', detail: error.message };
    const { code } = error as NodeJS.ErrnoException;
    const reason = isDatabaseTrouble(error) ? describeTrouble(error) : (code ?? 'it refuses');
    return { name: 'records', status: 'fail', detail: `the database at DATABASE_URL cannot be used (${reason})` };
  }
}

/** Of the folder, or of the nearest one above that is there; null = none. */
async function problemOf(folder: string): Promise<string | null> {
  for (let path = folder; ; path = dirname(path)) {
    try {
      if (!(await stat(path)).isDirectory()) return 'ENOTDIR';
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
      return null;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? String(error);
      if (code !== 'ENOENT' || path === dirname(path)) return code;
    }
  }
}

async function sizeIn(folder: string): Promise<string> {
  const found = await stat(join(folder, RECORDS_FILE)).catch(() => null);
  return found === null ? 'none yet' : formatBytes(found.size);
}
