/** `trunkline db refused`: through the server that uses the records, or without one. */

import { refusedAnswer, retriedAnswer } from '../../administration/refused.ts';
import { formatBytes } from '../../foundation/format-bytes.ts';
import { NO_FOLDER } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { migrateInFolder } from '../../records/open-records.ts';
import { RecordWriter } from '../../records/record-writer.ts';
import type { RecordsDatabase } from '../../records/records-database.ts';
import { RefusedEvents, type RefusedReport } from '../../records/refused-events.ts';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import { type DatabaseFlags, inFolder, type Place, placeOf } from './place.ts';
import { inPostgres, listenerOf } from './run.ts';

type Retried = { readonly stored: number; readonly left: number };

/** Exit code 1 = events are left that the database refuses. */
export async function showRefused(
  flags: DatabaseFlags & { readonly retry?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { out } = terminal;
  const place = await placeOf(flags, settings);
  if (flags.retry === true) {
    const { stored, left } = await retryAt(place, settings, terminal);
    out.line(
      flags.json === true ? JSON.stringify({ stored, left }) : `${stored} events were stored, ${left} are left.`,
    );
    return left === 0 ? EXIT_OK : EXIT_FAILED;
  }
  const { events, bytes, calls } = await reportAt(place, settings);
  if (flags.json === true) out.line(JSON.stringify({ events, bytes, calls }, null, 2));
  else if (events === 0) out.line('The database refused nothing.');
  else out.line(`${events} events of ${calls.length} calls (${formatBytes(bytes)}):`);
  if (flags.json !== true)
    for (const call of calls) out.line(`  ${call.callId}: ${call.events} events, refused with ${call.why.join(', ')}`);
  return events === 0 ? EXIT_OK : EXIT_FAILED;
}

async function reportAt(place: Place, { DATA_DIR }: Settings): Promise<RefusedReport> {
  if (place.kind === 'server') return place.server.ask('GET', '/v1/admin/db/refused', refusedAnswer);
  return folderOf(DATA_DIR).report();
}

async function retryAt(place: Place, { DATA_DIR, CLUSTER_KEY }: Settings, terminal: Terminal): Promise<Retried> {
  if (place.kind === 'server') return place.server.ask('POST', '/v1/admin/db/refused/retry', retriedAnswer);
  const refused = folderOf(DATA_DIR);
  const retry = (database: RecordsDatabase): Promise<Retried> =>
    refused.retry(new RecordWriter({ database, mayWrite: () => true, webhooks: () => null }));
  if (place.kind === 'postgres') return inPostgres(place.url, retry, terminal, CLUSTER_KEY !== '');
  return inFolder(place.folder, async (database) => {
    await migrateInFolder(database, place.folder, listenerOf(terminal));
    return retry(database);
  });
}

/** @throws Error when there is none */
function folderOf(dataDir: string): RefusedEvents {
  if (dataDir === NO_FOLDER)
    throw new Error(`there is no folder for what the database refuses: DATA_DIR is ${NO_FOLDER}`);
  return new RefusedEvents(dataDir);
}
