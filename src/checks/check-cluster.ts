/** The checks of `trunkline doctor` for PostgreSQL, and for a server that is one of several. They change nothing. */
import type pg from 'pg';
import { type Clock, systemClock } from '../foundation/clock.ts';
import { createClient } from '../foundation/database/postgres.ts';
import { describeTrouble } from '../foundation/database/trouble.ts';
import type { Finding } from '../foundation/finding.ts';
import type { Settings } from '../foundation/settings/settings.ts';

type ClusterSettings = Pick<Settings, 'CLUSTER_KEY' | 'DATABASE_URL' | 'DATABASE_DIRECT_URL'>;

const LIMIT_MS = 5000;
/** Of one server: records, locks, heartbeat, shared state, feed and queue. */
const CONNECTIONS_PER_SERVER = 18;
/** Calls have the times of the servers' clocks, and are deleted by the database's. */
const CLOCK_OFF_MAX_MS = 2000;
/** Of no lock that Trunkline takes otherwise. */
const PROBE_LOCK_KEY = 7_214_380_099;

/** The database's clock; for several servers also its connections, and DATABASE_DIRECT_URL. */
export async function checkCluster(settings: ClusterSettings, clock: Clock = systemClock): Promise<Finding[]> {
  const { CLUSTER_KEY, DATABASE_URL, DATABASE_DIRECT_URL } = settings;
  if (DATABASE_URL === '') return [];
  const pooled = createClient(DATABASE_URL, LIMIT_MS);
  const direct = createClient(DATABASE_DIRECT_URL || DATABASE_URL, LIMIT_MS);
  for (const client of [pooled, direct]) client.on('error', () => undefined);
  try {
    await pooled.connect();
    await direct.connect();
    if (CLUSTER_KEY === '') return [await checkClock(direct, clock)];
    return [await checkClock(direct, clock), await checkConnections(direct), await checkDirect(direct, pooled)];
  } catch (error) {
    // The check of the records says so of a server that is alone.
    if (CLUSTER_KEY === '') return [];
    const detail = `the database cannot be reached (${describeTrouble(error as Error)})`;
    return [{ name: 'servers', status: 'fail', detail }];
  } finally {
    await Promise.all([pooled, direct].map((client) => client.end().catch(() => undefined)));
  }
}

async function checkClock(client: pg.Client, clock: Clock): Promise<Finding> {
  const beganMs = clock.wall().getTime();
  const nowMs = Number(await ask(client, 'SELECT extract(epoch from clock_timestamp()) * 1000'));
  const endedMs = clock.wall().getTime();
  const offMs = Math.round(nowMs - (beganMs + endedMs) / 2);
  const isFine = Math.abs(offMs) <= CLOCK_OFF_MAX_MS;
  const detail = isFine
    ? `the database's clock and this machine's agree (${offMs} ms)`
    : `the database's clock is ${offMs} ms from this machine's: have both set by NTP`;
  return { name: 'clock', status: isFine ? 'ok' : 'warn', detail };
}

async function checkConnections(client: pg.Client): Promise<Finding> {
  const most = Number(await ask(client, "SELECT current_setting('max_connections')"));
  const reserved = Number(await ask(client, "SELECT current_setting('superuser_reserved_connections')"));
  const isMade = await ask(client, "SELECT to_regclass('gateways')");
  const servers =
    isMade === null ? 0 : Number(await ask(client, "SELECT count(*) FROM gateways WHERE state <> 'ended'"));
  const room = Math.floor((most - reserved) / CONNECTIONS_PER_SERVER);
  const detail =
    `${servers} ${servers === 1 ? 'server uses' : 'servers use'} the database, and there is room for ${room} ` +
    `(max_connections ${most}, ${CONNECTIONS_PER_SERVER} a server)`;
  if (servers < room) return { name: 'servers', status: 'ok', detail };
  return { name: 'servers', status: 'warn', detail: `${detail}: raise max_connections before one more is started` };
}

/** A lock that is taken on one of the two must be seen on the other, and stay with its connection. */
async function checkDirect(direct: pg.Client, pooled: pg.Client): Promise<Finding> {
  const name = 'locks';
  const holder = await ask(direct, `SELECT pg_backend_pid() FROM pg_advisory_lock(${PROBE_LOCK_KEY})`);
  const isTakenTwice = (await ask(pooled, `SELECT pg_try_advisory_lock(${PROBE_LOCK_KEY})`)) === true;
  if (isTakenTwice) {
    await ask(pooled, `SELECT pg_advisory_unlock(${PROBE_LOCK_KEY})`);
    const detail = 'DATABASE_DIRECT_URL is another database than DATABASE_URL: name the same one';
    return { name, status: 'fail', detail };
  }
  const isSame = (await ask(direct, 'SELECT pg_backend_pid()')) === holder;
  await ask(direct, `SELECT pg_advisory_unlock(${PROBE_LOCK_KEY})`);
  if (isSame) return { name, status: 'ok', detail: 'locks belong to one connection' };
  const detail = 'a pooler shares connections between statements: set DATABASE_DIRECT_URL to the database itself';
  return { name, status: 'fail', detail };
}

/** The first value of the first row. */
async function ask(client: pg.Client, sql: string): Promise<unknown> {
  const { rows } = await client.query({ text: sql, rowMode: 'array' });
  return (rows as readonly (readonly unknown[])[])[0]?.[0] ?? null;
}
