/** Copies of the SQLite database in DATA_DIR/backups. */
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makePrivateFolder } from '../foundation/folders/folders.ts';
import type { RecordsDatabase } from './records-database.ts';

/** Their folder in DATA_DIR. */
export const BACKUPS = 'backups';

/** `records-<time>-<why>.sqlite`; with more behind it, what a killed process left. */
const NAME =
  /^records-(?<time>\d{8}T\d{9})Z-(?<why>request|migration|query)\.sqlite(?<rest>(?:\.part)?(?:-wal|-journal|\.lock)?)$/;
/** Of {@link NAME}'s time. */
const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})$/;

/** Copies that were made before a migration are ours to remove: they hold what was deleted since. */
const MIGRATION_COPIES_MAX = 2;

/** Why a copy was made. */
export type BackupReason = 'request' | 'migration' | 'query';

/**
 * Copies the database of the records to a new file in `folder`, which is DATA_DIR. Returns its path.
 * @throws the system's error; DiskError when the disk is full
 */
export async function makeBackup(
  database: RecordsDatabase,
  { folder, why, now }: { folder: string; why: BackupReason; now: Date },
): Promise<string> {
  if (database.backUp === null) throw new Error('this database is backed up with its own tools');
  const backups = join(folder, BACKUPS);
  await makePrivateFolder(backups, (name) => NAME.test(name));
  const path = join(backups, `records-${stampOf(now)}Z-${why}.sqlite`);
  await database.backUp(path);
  if (why === 'migration') await removeOld(backups, basename(path));
  return path;
}

/**
 * Deletes the copies in `folder`, a DATA_DIR, that were made before `before`: they have calls that are past their time.
 * Returns how many.
 * @throws the system's error
 */
export async function removeBackupsBefore(folder: string, before: Date): Promise<number> {
  const backups = join(folder, BACKUPS);
  const old = await namesBefore(folder, before);
  for (const name of old) await rm(join(backups, name), { recursive: true, force: true });
  return old.filter(isWhole).length;
}

/** Whether {@link removeBackupsBefore} would delete something. */
export async function hasBackupsBefore(folder: string, before: Date): Promise<boolean> {
  return (await namesBefore(folder, before)).length > 0;
}

async function namesBefore(folder: string, before: Date): Promise<string[]> {
  const names = await readdir(join(folder, BACKUPS)).catch(() => []);
  return names.filter((name) => (NAME.exec(name)?.groups?.['time'] ?? '9') < stampOf(before));
}

/** The names of the copies in `folder`, a DATA_DIR, the oldest first. */
export async function wholeBackups(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, BACKUPS)).catch(() => []);
  return names.filter(isWhole).toSorted();
}

/** When the copy with this name was made. */
export function madeAt(name: string): Date {
  const time = NAME.exec(name)?.groups?.['time'] ?? '';
  return new Date(time.replace(TIME, '$1-$2-$3T$4:$5:$6.$7Z'));
}

/**
 * Deletes drafts of copies, and copies of queries, in `folder`, a DATA_DIR, that a killed process left.
 * @throws the system's error
 */
export async function removeUnfinished(folder: string): Promise<void> {
  const backups = join(folder, BACKUPS);
  const names = await readdir(backups).catch(() => []);
  const drafts = names.filter((name) => {
    const { why, rest } = NAME.exec(name)?.groups ?? {};
    return why === 'query' || rest?.startsWith('.part') === true;
  });
  for (const name of drafts) await rm(join(backups, name), { recursive: true, force: true });
}

function isWhole(name: string): boolean {
  return NAME.exec(name)?.groups?.['rest'] === '';
}

/** As names of copies have it; in the order of time. */
function stampOf(time: Date): string {
  return time.toISOString().replace(/[-:.Z]/g, '');
}

/**
 * Copies of requests belong to whoever asked for them, until they are past their time. The one that was just made
 * stays, also where a clock that was set back makes it look older than the others.
 */
async function removeOld(backups: string, made: string): Promise<void> {
  const others = (await readdir(backups)).filter(
    (name) => name !== made && isWhole(name) && NAME.exec(name)?.groups?.['why'] === 'migration',
  );
  const kept = MIGRATION_COPIES_MAX - 1;
  for (const name of others.toSorted().slice(0, -kept)) await rm(join(backups, name), { force: true });
}
