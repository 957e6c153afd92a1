/** Connections to a PostgreSQL server. */
import pg from 'pg';
import { storableValue } from './storable-text.ts';

/** `int8` and `numeric`, which counts and sums have: ours fit a number. */
const NUMBERS = [20, 1700];

/** Connections of one gateway at once. */
const CONNECTIONS_MAX = 6;
const CONNECT_TIMEOUT_MS = 5000;
/** A server that answers nothing for this long is taken for gone. */
const QUERY_TIMEOUT_MS = 30_000;

const types = {
  getTypeParser(type: number, format?: 'text' | 'binary') {
    return NUMBERS.includes(type) ? Number : pg.types.getTypeParser(type, format ?? 'text');
  },
} as pg.CustomTypesConfig;

/** How connections to the database at `url` are made; `isPatient` = for a migration, which may take long. */
function configOf(url: string, isPatient: boolean): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'trunkline',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types,
    ...(!isPatient && { query_timeout: QUERY_TIMEOUT_MS }),
  };
}

type Ask = (query: unknown, values?: unknown, callback?: unknown) => unknown;

/** A connection that sends only text that the server takes: {@link storableValue}. */
export class StorableClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const ask = this.query.bind(this) as Ask;
    const askStorable: Ask = (query, values, callback) =>
      ask(withStorableValues(query), storableValue(values), callback);
    this.query = askStorable as pg.Client['query'];
  }
}

/** Of a query object its values; one that sends itself, and plain SQL, stay as they are. */
function withStorableValues(query: unknown): unknown {
  if (typeof query !== 'object' || query === null || 'submit' in query || !('values' in query)) return query;
  return { ...query, values: storableValue(query.values) };
}

interface PoolOptions {
  /** For a migration, which may take long. */
  readonly isPatient?: boolean;
  readonly connectionsMax?: number;
  /** A server that answers nothing for this long, also while it is connected to, is taken for gone. */
  readonly limitMs?: number;
  /** Looks at each new connection; one that it rejects is not used. */
  readonly verify?: (client: pg.ClientBase) => Promise<void>;
}

/** A pool of connections to the database at `url`. */
export function openPool(
  url: string,
  { isPatient = false, connectionsMax, limitMs, verify }: PoolOptions = {},
): pg.Pool {
  const max = connectionsMax ?? (isPatient ? 1 : CONNECTIONS_MAX);
  const limits = limitMs === undefined ? {} : { connectionTimeoutMillis: limitMs, query_timeout: limitMs };
  const checks = verify === undefined ? {} : { onConnect: verify };
  const pool = new pg.Pool({ ...configOf(url, isPatient), ...limits, ...checks, max, Client: StorableClient });
  // A connection that breaks while nobody uses it: the next query makes another. Unheard, the error would end the
  // process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * One connection to the database at `url`, not made yet. `limitMs` = a server that answers nothing for this long, also
 * while it is connected to, is taken for gone; left out = as it is for others.
 */
export function createClient(url: string, limitMs?: number): pg.Client {
  const limits = limitMs === undefined ? {} : { connectionTimeoutMillis: limitMs, query_timeout: limitMs };
  return new StorableClient({ ...configOf(url, false), ...limits });
}

/** The server and database of `url`, without user, password and options. */
export function nameOfDatabase(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host === '' ? 'this machine' : host}${pathname}`;
}
