/** Answers queries of operators: in SQLite over a copy of the records, in PostgreSQL in a transaction that reads. */
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { sql as rawSql } from 'kysely';
import { packagePath } from '../../foundation/folders/paths.ts';
import { inPostgresDatabase } from '../postgres-records.ts';
import type { RecordsDatabase } from '../records-database.ts';
import { makeBackup } from '../sqlite-backups.ts';
import {
  gatherRows,
  QUERY_LIMIT_MS,
  QUERY_ROWS_MAX,
  type QueryAnswer,
  QueryRefused,
  readingStatement,
} from './query-terms.ts';
import type { QueryReply, QueryTask } from './query-worker.ts';

const TOO_LONG = `the query took longer than ${QUERY_LIMIT_MS / 1000} s`;

/**
 * Asks a copy of the records in `folder`, a DATA_DIR, which is removed afterwards.
 * @throws QueryRefused when the query is wrong or takes too long; DiskError and the system's errors
 */
export async function querySqlite(
  database: RecordsDatabase,
  { folder, text, now }: { readonly folder: string; readonly text: string; readonly now: Date },
): Promise<QueryAnswer> {
  const sql = readingStatement(text);
  const path = await makeBackup(database, { folder, why: 'query', now });
  try {
    return await askCopy({ path, sql });
  } finally {
    await removeCopy(path);
  }
}

/** Asks the database at `url`. @throws QueryRefused when the query is wrong or takes too long */
export async function queryPostgres(url: string, text: string): Promise<QueryAnswer> {
  const sql = readingStatement(text);
  return inPostgresDatabase(url, (db) =>
    db.transaction().execute(async (transaction) => {
      await rawSql`SET TRANSACTION READ ONLY`.execute(transaction);
      await rawSql`SET LOCAL statement_timeout = ${rawSql.raw(String(QUERY_LIMIT_MS))}`.execute(transaction);
      try {
        await rawSql`DECLARE asked CURSOR FOR ${rawSql.raw(sql)}`.execute(transaction);
        const fetched = rawSql<Record<string, unknown>>`FETCH ${rawSql.raw(String(QUERY_ROWS_MAX + 1))} FROM asked`;
        return gatherRows((await fetched.execute(transaction)).rows);
      } catch (error) {
        const { code, message } = error as { code?: string; message: string };
        throw new QueryRefused(code === '57014' ? TOO_LONG : message);
      }
    }),
  );
}

async function askCopy(task: QueryTask): Promise<QueryAnswer> {
  const program = packagePath('dist', 'src', 'records', 'query', 'query-worker.js');
  const worker = new Worker(program, {
    workerData: task,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  try {
    const [reply] = (await once(worker, 'message', { signal: AbortSignal.timeout(QUERY_LIMIT_MS) })) as [QueryReply];
    if ('error' in reply) throw new QueryRefused(reply.error);
    return reply;
  } catch (error) {
    if (error instanceof QueryRefused) throw error;
    throw new QueryRefused((error as Error).name === 'AbortError' ? TOO_LONG : 'the query took too much memory');
  } finally {
    await worker.terminate();
  }
}

/** With what SQLite puts beside it. */
async function removeCopy(path: string): Promise<void> {
  const names = await readdir(dirname(path));
  for (const name of names.filter((each) => each.startsWith(basename(path))))
    await rm(join(dirname(path), name), { recursive: true, force: true });
}
