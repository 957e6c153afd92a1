/** Answers queries of operators: in SQLite over a copy of the records, in PostgreSQL in a transaction that reads. */
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type pg from 'pg';
import { packagePath } from '../../foundation/folders/paths.ts';
import type { RecordsDatabase } from '../records-database.ts';
import { makeBackup } from '../sqlite-backups.ts';
import { gatherRows, QUERY_LIMIT_MS, type QueryAnswer, QueryRefused, readingStatement } from './query-terms.ts';
import type { QueryReply, QueryTask } from './query-worker.ts';

/** Rows that the server sends together. */
const ROWS_AT_ONCE = 20;
/** All that the server may send for one query. */
const ANSWER_MAX_BYTES = 16_000_000;
const TOO_MUCH = 'the answer has more than 16 MB: ask for fewer rows, or for parts of values, e.g. left(content, 1000)';
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

/** Asks the database at `url`. @throws QueryRefused when the query is wrong, or takes too long or too much */
export async function queryPostgres(url: string, text: string): Promise<QueryAnswer> {
  const sql = readingStatement(text);
  const { createClient } = await import('../../foundation/database/postgres.ts');
  const client = createClient(url);
  client.on('error', () => undefined);
  await client.connect();
  const limit = limitBytes(client);
  try {
    await client.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${QUERY_LIMIT_MS}`);
    await client.query(`DECLARE asked NO SCROLL CURSOR FOR ${sql}`);
    return await gatherRows(fetchRows(client));
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (limit.isReached) throw new QueryRefused(TOO_MUCH);
    throw new QueryRefused(code === '57014' ? TOO_LONG : message);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function* fetchRows(client: pg.Client): AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined> {
  for (;;) {
    const { rows } = await client.query<Record<string, unknown>>(`FETCH ${ROWS_AT_ONCE} FROM asked`);
    yield* rows;
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

/** One value may have a gigabyte, and the client keeps a row until it is whole. */
function limitBytes(client: pg.Client): { readonly isReached: boolean } {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  const state = { bytes: 0, isReached: false };
  stream.on('data', (chunk: Buffer) => {
    state.bytes += chunk.length;
    if (state.bytes <= ANSWER_MAX_BYTES || state.isReached) return;
    state.isReached = true;
    stream.destroy();
  });
  return state;
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
