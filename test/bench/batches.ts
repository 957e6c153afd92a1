/** One large batch on two gateways that are killed while they work: is each file there once, and what does it take? */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import type { BatchTablesOf } from '../../src/jobs/shared/batch-rows.ts';
import { BatchTables } from '../../src/jobs/shared/batch-tables.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import { batchOf, type KillableGateway, serveRecordings, startBatchGateway } from '../helpers/batch-gateways.ts';
import { startPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { figure, type Report } from './report.ts';

const LOOK_MS = 200;
const LIMIT_MS = 3_600_000;

export interface BatchesBenchOptions {
  readonly files: number;
  /** How long the pretended recogniser takes for each. */
  readonly workMs: number;
  readonly kills: number;
}

/** Runs the benchmark. @throws Error when PostgreSQL is not installed, or the batch does not end */
export async function benchBatches({ files, workMs, kills }: BatchesBenchOptions): Promise<Report> {
  if (whyNoPostgres !== '') throw new Error('PostgreSQL is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  const [postgres, site] = [await startPostgres(), await serveRecordings()];
  const url = await postgres.createDatabase();
  const database = await openPostgresRecords(url, { clock: systemClock, log: createLog('silent'), isShared: true });
  const gateways: KillableGateway[] = [];
  try {
    const start = async (): Promise<KillableGateway> => {
      const gateway = await startBatchGateway({ url, folder, name: `gateway${gateways.length}`, workMs });
      gateways.push(gateway);
      return gateway;
    };
    const working = [await start(), await start()];
    const bytes = async (): Promise<number> =>
      (await sql<{ n: number }>`SELECT pg_total_relation_size('batch_files') AS n`.execute(database.db)).rows[0]?.n ??
      0;
    const emptyBytes = await bytes();
    const tables = new BatchTables(database.db.withTables<BatchTablesOf>());
    const beganMs = systemClock.nowMs();
    await tables.add(batchOf(files, site.url), 'http://elsewhere.example', 50);
    const done = (): number => gateways.reduce((sum, each) => sum + each.done().length, 0);
    for (let kill = 1; kill <= kills; kill++) {
      await until(() => done() > (files * kill) / (kills + 1));
      const seconds = figure((systemClock.nowMs() - beganMs) / 1000, 0);
      process.stderr.write(`${done()} of ${files} files after ${seconds} s; a gateway is killed\n`);
      await working.shift()?.kill();
      working.push(await start());
    }
    await until(async () => (await tables.get('b'))?.batch.state === 'done');
    const tookMs = systemClock.nowMs() - beganMs;
    const results = await tables.results('b', { from: 0, asSpoken: true }, files + 1);
    const right = results.filter(
      ({ file, transcript }) => transcript?.segments[0]?.text === String(file.number),
    ).length;
    const rows = [
      ['files with their own transcript', right],
      ['results of files that have another', results.length - new Set(results.map(({ file }) => file.number)).size],
      ['recordings that were read again after a kill', done() - files],
      ['files a second', figure((files * 1000) / tookMs, 1)],
      [
        'bytes of a file in the database, with a transcript of some words',
        Math.round(((await bytes()) - emptyBytes) / files),
      ],
    ];
    const title = `${files} files, two gateways, ${kills} kills, ${workMs} ms of pretended work each`;
    return {
      name: 'batches',
      about: 'One large batch on two gateways that are killed while they work.',
      tables: [{ title, heads: ['what', 'found'], rows }],
      notes: [
        'A gateway that shares batches has nothing in memory of a file that is not in work.',
        'The jobs of a gateway that was killed are taken again some ten seconds later.',
      ],
      goals: [
        {
          goal: 'each file is there once, and none is missing',
          found: `${right} of ${files}, ${results.length} results`,
          met: right === files && results.length === files,
        },
      ],
    };
  } finally {
    for (const gateway of gateways) await gateway.kill();
    site.close();
    await database.close();
    await postgres.remove();
    rmSync(folder, { recursive: true });
  }
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const endMs = systemClock.nowMs() + LIMIT_MS; !(await isTrue()); await sleep(systemClock, LOOK_MS))
    if (systemClock.nowMs() > endMs) throw new Error(`the batch did not end within ${LIMIT_MS} ms`);
}
