/** `trunkline db query`: a look inside the records that changes nothing. */

import { queryAnswer } from '../../administration/query.ts';
import { systemClock } from '../../foundation/clock.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { queryPostgres, querySqlite } from '../../records/query/query-records.ts';
import type { QueryAnswer } from '../../records/query/query-terms.ts';
import { EXIT_OK } from '../exit-codes.ts';
import { printable } from '../printable.ts';
import type { Terminal } from '../terminal.ts';
import { type DatabaseFlags, inFolder, placeOf } from './place.ts';

/** Runs it; returns the exit code. @throws Error when the query is refused, or the records cannot be reached */
export async function query(
  text: string,
  flags: DatabaseFlags,
  settings: Settings,
  { out, err }: Terminal,
): Promise<number> {
  const { rows, isCut } = await answerOf(text, flags, settings);
  if (flags.json === true) out.line(JSON.stringify({ rows, isCut }, null, 2));
  else {
    const columns = Object.keys(rows[0] ?? {});
    if (rows.length > 0) out.line(columns.map(printable).join('\t'));
    for (const row of rows) out.line(columns.map((column) => printable(String(row[column] ?? ''))).join('\t'));
  }
  if (isCut) err.line(`These are the first ${rows.length} rows: add a LIMIT and an OFFSET for others.`);
  return EXIT_OK;
}

async function answerOf(text: string, flags: DatabaseFlags, settings: Settings): Promise<QueryAnswer> {
  const place = await placeOf(flags, settings);
  // Its servers would refuse: whoever knows the database asks it.
  if (place.kind === 'postgres' || (settings.DATABASE_URL !== '' && flags.url === undefined))
    return queryPostgres(settings.DATABASE_URL, text);
  if (place.kind === 'server') return place.server.ask('POST', '/v1/admin/db/query', queryAnswer, { sql: text });
  const { folder } = place;
  return inFolder(folder, (database) => querySqlite(database, { folder, text, now: systemClock.wall() }));
}
