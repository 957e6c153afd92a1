/** How a gateway joins the others: all of them must have the same CLUSTER_KEY, or they would refuse each other. */
import { createHmac } from 'node:crypto';
import { type Clock, sleep } from '../foundation/clock.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import { isSameSecret } from '../foundation/timing-safe.ts';
import type { ClusterSession } from './cluster-session.ts';
import { countLiving, insertGateway, type NewGateway } from './gateway-rows.ts';

const LOCK_KEY = 7_214_380_063;
const KEY_NAME = 'cluster:key';
const EPOCH_NAME = 'cluster:feed-epoch';
const RETRY_MS = 500;

interface JoinOptions {
  /** CLUSTER_KEY. */
  readonly key: string;
  readonly gateway: NewGateway;
  /** Gateways that were silent for so long do not count. */
  readonly deadAfterMs: number;
  readonly clock: Clock;
}

/**
 * Adds this gateway. With another key than those that live, it waits until they are gone; the first one of all chooses.
 * @throws ConfigError when they stay; the error of the database
 */
export async function joinCluster(session: ClusterSession, options: JoinOptions): Promise<void> {
  const { clock, deadAfterMs } = options;
  const deadlineMs = clock.nowMs() + deadAfterMs + RETRY_MS;
  while (!(await tryToJoin(session, options))) {
    if (clock.nowMs() >= deadlineMs)
      throw new ConfigError([
        'CLUSTER_KEY: the servers that use this database have another one: set the same key on all of them, or end ' +
          'them all to change it',
      ]);
    await sleep(clock, RETRY_MS);
  }
}

async function tryToJoin(session: ClusterSession, { key, gateway, deadAfterMs }: JoinOptions): Promise<boolean> {
  await session.query('BEGIN');
  await session.query('SELECT pg_advisory_xact_lock($1)', [LOCK_KEY]);
  const rows = await session.query<{ name: string; value: string }>(
    'SELECT name, value FROM meta WHERE name IN ($1, $2)',
    [KEY_NAME, EPOCH_NAME],
  );
  const metaOf = (wanted: string): string => rows.find(({ name }) => name === wanted)?.value ?? '';
  // The key itself is not in the database, whose readers could use it.
  const hash = createHmac('sha256', key).update(metaOf(EPOCH_NAME)).digest('hex');
  const isKnown = isSameSecret(metaOf(KEY_NAME), hash);
  if (!isKnown && (await countLiving(session, deadAfterMs)) > 0) {
    await session.query('ROLLBACK');
    return false;
  }
  if (!isKnown)
    await session.query(
      'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      [KEY_NAME, hash],
    );
  await insertGateway(session, gateway);
  await session.query('COMMIT');
  return true;
}
