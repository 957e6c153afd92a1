/** Joins the gateways that share a database, as the settings say. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { RecordsDatabase } from '../records/records-database.ts';
import { ForwardClient } from './forward/forward-client.ts';
import { PostgresCluster } from './postgres-cluster.ts';
import { isReached } from './probe.ts';

type ClusterSettings = Pick<Settings, 'CLUSTER_KEY' | 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'GATEWAY_URL'>;

interface OpenOptions {
  /** Of the records; null = nothing is kept. */
  readonly database: RecordsDatabase | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'cluster'>;
}

/**
 * This gateway among the others; null = CLUSTER_KEY is not set.
 * @throws ConfigError when the others have another key; the error of the database
 */
export async function openCluster(
  settings: ClusterSettings,
  { database, clock, log, metrics }: OpenOptions,
): Promise<PostgresCluster | null> {
  const { CLUSTER_KEY, DATABASE_URL, DATABASE_DIRECT_URL, GATEWAY_URL } = settings;
  if (CLUSTER_KEY === '' || database === null) return null;
  const id = randomUUID();
  // One that was kept may have broken without a word.
  const client = new ForwardClient({ key: CLUSTER_KEY, me: id, clock, keepsConnections: false });
  const cluster = new PostgresCluster({
    id,
    name: hostname(),
    address: GATEWAY_URL,
    key: CLUSTER_KEY,
    url: DATABASE_DIRECT_URL || DATABASE_URL,
    database,
    probe: (member) => isReached(client, member),
    clock,
    log,
    metrics: metrics.cluster,
  });
  try {
    await cluster.open();
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}
