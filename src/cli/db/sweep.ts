/** `trunkline db sweep`: what is past its time, and why it is not deleted. */

import { type SweepAnswer, sweepAnswer } from '../../administration/sweep.ts';
import { systemClock } from '../../foundation/clock.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { inPostgresDatabase } from '../../records/postgres-records.ts';
import type { RecordsDatabase } from '../../records/records-database.ts';
import { RetentionClock } from '../../records/retention/retention-clock.ts';
import { reviewSweep } from '../../records/retention/sweep-check.ts';
import { EXIT_OK } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import { type DatabaseFlags, inFolder, type Place, placeOf } from './place.ts';

/** Flags of the command. */
interface SweepFlags extends DatabaseFlags {
  readonly yes?: boolean;
}

/** Runs it; returns the exit code. @throws Error when the records cannot be reached */
export async function sweep(flags: SweepFlags, settings: Settings, { out }: Terminal): Promise<number> {
  const place = await placeOf(flags, settings);
  const goesOn = flags.yes === true;
  const found = await lookAt(place, settings, goesOn);
  if (flags.json === true) {
    out.line(JSON.stringify({ ...found, goesOn }, null, 2));
    return EXIT_OK;
  }
  const { calls, lines, now, held } = found;
  out.line(`Past their time at ${now}:`);
  out.line(`  ${calls.due} of ${calls.kept} calls, ${lines.due} of ${lines.kept} lines of the audit log`);
  if (!goesOn) out.line(held === null ? 'The server deletes them by itself.' : `Held: ${held}`);
  else if (place.kind === 'server') out.line('The server deletes them now.');
  else out.line('The server deletes them within a minute, or when it is started within a day.');
  return EXIT_OK;
}

function lookAt(place: Place, settings: Settings, goesOn: boolean): Promise<SweepAnswer> {
  switch (place.kind) {
    case 'server':
      return place.server.ask(goesOn ? 'POST' : 'GET', '/v1/admin/db/sweep', sweepAnswer);
    case 'folder':
      return inFolder(place.folder, (database) => review(database, settings, goesOn));
    case 'postgres':
      return inPostgresDatabase(place.url, (db) => review({ kind: 'postgres', db, reader: db }, settings, goesOn));
  }
}

async function review(
  database: Pick<RecordsDatabase, 'kind' | 'db' | 'reader'>,
  settings: Settings,
  goesOn: boolean,
): Promise<SweepAnswer> {
  const time = new RetentionClock(database, systemClock);
  const { plan, hold } = await reviewSweep(time, database.reader, settings);
  if (goesOn) await time.goOn();
  const { nowMs, calls, lines } = plan;
  return { now: new Date(nowMs).toISOString(), calls, lines, held: hold?.message ?? null };
}
