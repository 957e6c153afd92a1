import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/foundation/clock.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import type { BatchTablesOf } from '../../../src/jobs/shared/batch-rows.ts';
import { BatchTables } from '../../../src/jobs/shared/batch-tables.ts';
import { openPostgresRecords } from '../../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import { batchOf, type KillableGateway, serveRecordings, startBatchGateway } from '../../helpers/batch-gateways.ts';
import { type SharedPostgres, sharedPostgres, whyNoPostgres } from '../../helpers/postgres.ts';

const FILES = 300;
/** The jobs of a gateway that died are taken again some 10 s later, by the real clock of the queue. */
const LIMIT_MS = 120_000;

describe.skipIf(whyNoPostgres !== '')(`a batch on gateways that are killed${whyNoPostgres}`, () => {
  let postgres: SharedPostgres;
  let database: RecordsDatabase;
  let folder: string;
  let site: Awaited<ReturnType<typeof serveRecordings>>;
  const gateways: KillableGateway[] = [];

  beforeAll(async () => {
    postgres = await sharedPostgres();
    folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
    site = await serveRecordings();
  });
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.kill();
  });
  afterAll(async () => {
    site.close();
    await database.close();
    rmSync(folder, { recursive: true });
  });

  it(
    'has each of its files once, none is missing, and little is done twice',
    async () => {
      const url = await postgres.createDatabase();
      database = await openPostgresRecords(url, { clock: systemClock, log: createLog('silent'), isShared: true });
      const start = async (name: string): Promise<KillableGateway> => {
        const gateway = await startBatchGateway({ url, folder, name, workMs: 30 });
        gateways.push(gateway);
        return gateway;
      };
      const [one, other] = [await start('one'), await start('other')];
      const tables = new BatchTables(database.db.withTables<BatchTablesOf>());
      await tables.add(batchOf(FILES, site.url), 'http://elsewhere.example', 50);
      await vi.waitFor(() => expect(one.done().length).toBeGreaterThan(20), { interval: 50, timeout: LIMIT_MS });
      await one.kill();
      await start('third');
      await vi.waitFor(() => expect(other.done().length).toBeGreaterThan(60), { interval: 50, timeout: LIMIT_MS });
      await other.kill();
      await start('fourth');
      const isDone = async () => expect((await tables.get('b'))?.batch.state).toBe('done');
      await vi.waitFor(isDone, { interval: 50, timeout: LIMIT_MS });
      const results = await tables.results('b', { from: 0, asSpoken: true }, FILES + 1);
      expect(results.map(({ file, transcript }) => [file.number, file.state, transcript?.segments[0]?.text])).toEqual(
        Array.from({ length: FILES }, (_, number) => [number, 'done', String(number)]),
      );
      const made = gateways.flatMap((gateway) => gateway.done());
      // What a killed gateway had in work, eight at most, is done again.
      expect(made.length).toBeLessThanOrEqual(FILES + 2 * 8);
      const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM batch_files`.execute(database.db);
      expect(rows).toEqual([{ n: FILES }]);
    },
    LIMIT_MS,
  );
});
