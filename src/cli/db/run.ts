/** `trunkline db status`, `backup` and `migrate`: through the server that uses the records, or without one. */
import { rm } from 'node:fs/promises';
import { backupAnswer, databaseAnswer } from '../../administration/database.ts';
import { systemClock } from '../../foundation/clock.ts';
import { formatBytes } from '../../foundation/format-bytes.ts';
import { createLog } from '../../foundation/log/log.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { type DatabaseReport, reportOf } from '../../records/database-report.ts';
import { migrate, readSchemaState } from '../../records/migrations/migrations.ts';
import type { MigrationListener } from '../../records/migrations/told-migration.ts';
import { migrateInFolder } from '../../records/open-records.ts';
import { openPostgresRecords, rehearsePostgres, reportPostgres } from '../../records/postgres-records.ts';
import type { RecordsDatabase } from '../../records/records-database.ts';
import { makeBackup } from '../../records/sqlite-backups.ts';
import { openSqliteRecords } from '../../records/sqlite-records.ts';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import { type DatabaseFlags, inFolder, type Place, placeOf } from './place.ts';

/**
 * Opens the database on the server for `work`; this brings it up to this version. `isShared` = gateways of a cluster
 * may use it meanwhile.
 */
export async function inPostgres<T>(
  url: string,
  work: (database: RecordsDatabase) => Promise<T>,
  { err }: Pick<Terminal, 'err'>,
  isShared = false,
): Promise<T> {
  const tell = (line: string): void => err.line(line);
  const database = await openPostgresRecords(url, { clock: systemClock, log: createLog('silent'), isShared, tell });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** `trunkline db status` */
export async function showStatus(flags: DatabaseFlags, settings: Settings, { out }: Terminal): Promise<number> {
  const place = await placeOf(flags, settings);
  const report = await reportFrom(place);
  if (flags.json === true) {
    out.line(JSON.stringify(report, null, 2));
    return EXIT_OK;
  }
  const through = place.kind === 'server' ? ` (asked the server at ${place.server.url})` : '';
  out.line(`${report.kind}: ${report.place}${through}`);
  const since = report.oldestCallAt === null ? '' : `, the oldest from ${report.oldestCallAt}`;
  out.line(`  ${report.calls ?? 0} calls${since}; ${formatBytes(report.sizeBytes)}`);
  out.line(`  schema ${report.applied.at(-1) ?? 'none yet'}; ${describePending(report.pending)}`);
  return EXIT_OK;
}

async function reportFrom(place: Place): Promise<DatabaseReport> {
  switch (place.kind) {
    case 'server':
      return place.server.ask('GET', '/v1/admin/db', databaseAnswer);
    case 'folder':
      return inFolder(place.folder, reportOf);
    case 'postgres':
      return reportPostgres(place.url);
  }
}

function describePending(pending: readonly string[]): string {
  return pending.length === 0 ? 'nothing to migrate' : `to be applied: ${pending.join(', ')}`;
}

/** `trunkline db backup` */
export async function makeCopy(flags: DatabaseFlags, settings: Settings, terminal: Terminal): Promise<number> {
  const { out, err } = terminal;
  const place = await placeOf(flags, settings);
  if (place.kind === 'postgres') {
    err.line('trunkline: PostgreSQL is backed up with its own tools, e.g. pg_dump');
    return EXIT_FAILED;
  }
  const path = await copyFrom(place);
  out.line(flags.json === true ? JSON.stringify({ path }) : path);
  return EXIT_OK;
}

async function copyFrom(place: Exclude<Place, { kind: 'postgres' }>): Promise<string> {
  if (place.kind === 'server') return (await place.server.ask('POST', '/v1/admin/db/backup', backupAnswer)).path;
  const { folder } = place;
  return inFolder(folder, (database) => makeBackup(database, { folder, why: 'request', now: systemClock.wall() }));
}

/** `trunkline db migrate` */
export async function bringUp(
  flags: DatabaseFlags & { readonly dryRun?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const place = await placeOf(flags, settings);
  const isJson = flags.json === true;
  if (flags.dryRun === true) {
    const { pending, tookMs } = await rehearse(place, terminal);
    if (isJson) terminal.out.line(JSON.stringify({ dryRun: true, pending, tookMs }));
    else terminal.out.line(pending.length === 0 ? 'Nothing to migrate.' : `${describePending(pending)}: ${tookMs} ms.`);
    return EXIT_OK;
  }
  if (place.kind === 'server') {
    const { pending } = await reportFrom(place);
    if (isJson) terminal.out.line(JSON.stringify({ dryRun: false, applied: [], pending, backup: null }));
    else terminal.out.line('A server uses these records; it brought them up to its version when it started.');
    return EXIT_OK;
  }
  const { applied, backup } = await migrateAt(place, terminal);
  if (isJson) terminal.out.line(JSON.stringify({ dryRun: false, applied, pending: [], backup }));
  else {
    terminal.out.line(applied.length === 0 ? 'Nothing to migrate.' : `Applied: ${applied.join(', ')}.`);
    if (backup !== null) terminal.out.line(`The copy from before: ${backup}`);
  }
  return EXIT_OK;
}

async function migrateAt(
  place: Exclude<Place, { kind: 'server' }>,
  terminal: Terminal,
): Promise<{ applied: readonly string[]; backup: string | null }> {
  if (place.kind === 'postgres') {
    const { pending } = await reportPostgres(place.url);
    await inPostgres(place.url, async () => undefined, terminal);
    return { applied: pending, backup: null };
  }
  const { folder } = place;
  return inFolder(folder, async (database) => {
    const { pending } = await readSchemaState(database.db);
    return { applied: pending, backup: await migrateInFolder(database, folder, listenerOf(terminal)) };
  });
}

/** Lines of a migration go where those for people go. */
export function listenerOf({ err }: Pick<Terminal, 'err'>): MigrationListener {
  return { clock: systemClock, tell: (line) => err.line(line) };
}

interface Rehearsal {
  readonly pending: readonly string[];
  readonly tookMs: number;
}

/** On a copy beside the other copies, which is removed; in PostgreSQL in a transaction that is taken back. */
async function rehearse(place: Place, { err }: Terminal): Promise<Rehearsal> {
  if (place.kind === 'postgres') return timed(() => rehearsePostgres(place.url));
  const copy = await copyFrom(place);
  err.line(`Rehearsing on a copy: ${copy}`);
  try {
    const database = await openSqliteRecords(copy);
    try {
      return await timed(async () => {
        const { pending } = await readSchemaState(database.db);
        if (pending.length > 0) await migrate(database.db, 'sqlite');
        return pending;
      });
    } finally {
      await database.close();
    }
  } finally {
    for (const ending of ['', '-wal', '-shm']) await rm(`${copy}${ending}`, { force: true });
    await rm(`${copy}.lock`, { recursive: true, force: true });
  }
}

async function timed(work: () => Promise<readonly string[]>): Promise<Rehearsal> {
  const startMs = systemClock.nowMs();
  const pending = await work();
  return { pending, tookMs: Math.round(systemClock.nowMs() - startMs) };
}
