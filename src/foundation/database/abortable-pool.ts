/** Ends queries at the PostgreSQL server when nobody waits for them any more. */
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { abortSignal } from './abort.ts';

/**
 * Behind a pooler the process number is not the server's, and may be that of another connection: the query is compared
 * as well, as far as the server keeps its text.
 * https://www.postgresql.org/docs/current/runtime-config-statistics.html#GUC-TRACK-ACTIVITY-QUERY-SIZE
 */
const CANCEL = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
  WHERE pid = $1 AND state = 'active' AND left(query, 200) = left($2, 200)`;

/** `pool`, whose queries end with the signal of their work (abort.ts). */
export function abortablePool(pool: pg.Pool): PostgresPool {
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    connect: async () => {
      const client = await pool.connect();
      const known = clients.get(client) ?? abortableClient(client, pool);
      clients.set(client, known);
      return known;
    },
    end: () => pool.end(),
  };
}

function abortableClient(client: pg.PoolClient, pool: pg.Pool): PostgresPoolClient {
  const plain = client as unknown as PostgresPoolClient & { readonly processID: number | null };
  return {
    query: (async (text: string, values?: readonly unknown[]) => {
      const query = () => plain.query(text, values ?? []);
      const signal = abortSignal();
      return signal === undefined ? query() : untilAborted(query, signal, () => cancel(pool, plain.processID, text));
    }) as PostgresPoolClient['query'],
    release: () => client.release(),
  };
}

/** The connection is given back only when nothing is on its way that would end the query after this one. */
async function untilAborted<T>(query: () => Promise<T>, signal: AbortSignal, end: () => Promise<void>): Promise<T> {
  signal.throwIfAborted();
  let ending: Promise<void> = Promise.resolve();
  const onAbort = (): void => {
    ending = end();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await query();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    await ending;
  }
}

/** On a connection of its own: all of the pool may be busy with what is to be ended. */
async function cancel({ options }: pg.Pool, processId: number | null, text: string): Promise<void> {
  const client = new pg.Client(options);
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(CANCEL, [processId, text]);
  } catch {
    // It ends by itself.
  } finally {
    await client.end().catch(() => undefined);
  }
}
