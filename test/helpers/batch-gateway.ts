/**
 * A process that works on shared batches as a gateway does, with a recogniser that repeats what a recording says. It is
 * made to be killed. Environment: URL of the database, NAME, FOLDER, WORK_MS that a recording takes.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import type { BatchTablesOf } from '../../src/jobs/shared/batch-rows.ts';
import { BullQueue } from '../../src/jobs/shared/bull-queue.ts';
import { SharedBatches } from '../../src/jobs/shared/shared-batches.ts';
import { RecordingDisk } from '../../src/recordings/disk.ts';
import { Translator } from '../../src/recordings/translate.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';

const PLACES = 4;

const { URL: url = '', NAME: name = '', FOLDER: folder = '', WORK_MS: workMs = '0' } = process.env;
const address = `http://${name}.example:8080`;
const settings = readSettings({
  BATCH_DIR: join(folder, name),
  OUTBOUND_ALLOW: 'batches=127.0.0.0/8',
  WEBHOOK_SECRET: 's',
});
const common = { settings, clock: systemClock, log: createLog('silent'), metrics: new Metrics() };
const database = await openPostgresRecords(url, { clock: systemClock, log: common.log, isShared: true });

async function sayAlive(): Promise<void> {
  await sql`INSERT INTO gateways (id, name, address, state, live, max_calls, firm_load, started_ms, seen_ms)
    VALUES (${address}, ${name}, ${address}, 'serving', 0, 1, 0, 0, ${Date.now()})
    ON CONFLICT (id) DO UPDATE SET seen_ms = excluded.seen_ms`.execute(database.db);
}

await sayAlive();
systemClock.every(1000, () => void sayAlive().catch(() => undefined), true);
const batches = new SharedBatches({
  ...common,
  db: database.db.withTables<BatchTablesOf>(),
  queue: await BullQueue.open({ ...common, url, address, jobsMax: PLACES }),
  address,
  placesOfGateway: PLACES,
  recordings: {
    transcribe: async ({ path }) => {
      const text = readFileSync(path, 'utf8');
      await sleep(systemClock, Number(workMs));
      appendFileSync(join(folder, `${name}.done`), `${text}\n`);
      const segment = { channel: 0, text, startMs: 0, endMs: 900, words: [], wordTimes: 'estimated' as const };
      return { spokenLanguage: 'en', durationMs: 1000, segments: [segment] };
    },
    disk: new RecordingDisk({ maxBytes: settings.UPLOAD_DISK_MAX_BYTES, metrics: common.metrics }),
  },
  translator: new Translator(common),
});
await batches.open();
process.stdout.write('open\n');
