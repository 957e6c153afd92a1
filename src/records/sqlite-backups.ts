/** Copies of the SQLite database in DATA_DIR/backups. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder } from '../foundation/folders/folders.ts';
import type { RecordsDatabase } from './records-database.ts';

const BACKUPS = 'backups';

/** `records-<time>-<why>.sqlite` */
const NAME = /^records-(?<time>\d{8}T\d{9})Z-(?<why>request|migration)\.sqlite(?:\.part)?$/;

/** Copies that were made before a migration are ours to remove: they hold what was deleted since. */
const MIGRATION_COPIES_MAX = 2;

/** Why a copy was made. */
export type BackupReason = 'request' | 'migration';

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
  if (why === 'migration') await removeOld(backups);
  return path;
}

/**
 * Deletes the copies in `folder`, a DATA_DIR, that were made before `before`: they have calls that are past their time.
 * Returns how many.
 * @throws the system's error
 */
export async function removeBackupsBefore(folder: string, before: Date): Promise<number> {
  const backups = join(folder, BACKUPS);
  const names = await readdir(backups).catch(() => []);
  const old = names.filter((name) => (NAME.exec(name)?.groups?.['time'] ?? '9') < stampOf(before));
  for (const name of old) await rm(join(backups, name), { force: true });
  return old.length;
}

/** As names of copies have it; in the order of time. */
function stampOf(time: Date): string {
  return time.toISOString().replace(/[-:.Z]/g, '');
}

/** Copies of requests belong to whoever asked for them, until they are past their time. */
async function removeOld(backups: string): Promise<void> {
  const copies = (await readdir(backups)).filter((name) => NAME.exec(name)?.groups?.['why'] === 'migration');
  for (const name of copies.toSorted().slice(0, -MIGRATION_COPIES_MAX)) await rm(join(backups, name), { force: true });
}
