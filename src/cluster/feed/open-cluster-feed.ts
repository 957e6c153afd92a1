/** Opens the feed that the gateways of one database share. */
import type { FeedArchive } from '../../calls/feed/archive.ts';
import type { Clock } from '../../foundation/clock.ts';
import { patiently } from '../../foundation/database/patience.ts';
import { createClient } from '../../foundation/database/postgres.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { ClusterFeedMetrics } from '../../foundation/metrics/cluster-feed-metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { RecordsDatabase } from '../../records/records-database.ts';
import type { StoredCalls } from '../../records/stored-calls.ts';
import { ClusterArchive } from './cluster-archive.ts';
import { ClusterFeed } from './cluster-feed.ts';
import { readFeedStart } from './feed-rows.ts';

type FeedSettings = Pick<Settings, 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'FEED_HISTORY' | 'REDACT'>;

interface OpenOptions {
  /** The id of this gateway, which its feed has as its epoch. */
  readonly gateway: string;
  readonly database: Pick<RecordsDatabase, 'reader'>;
  readonly stored: StoredCalls;
  /** The others have ended this gateway's calls. Must not throw. */
  readonly onDeclaredDead: () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ClusterFeedMetrics;
}

/** The shared feed, to be handed to a `Feed` and opened with it, and what is older than memory. */
interface OpenedClusterFeed {
  readonly exchange: ClusterFeed;
  readonly archive: FeedArchive;
}

/** Finds out where the feed is; nothing is read or written yet. @throws the error of the database */
export async function openClusterFeed(settings: FeedSettings, options: OpenOptions): Promise<OpenedClusterFeed> {
  const { database, stored } = options;
  const { DATABASE_URL, DATABASE_DIRECT_URL, FEED_HISTORY, REDACT } = settings;
  // The table has what was said as it was said: it is kept no longer than gateways need it that were cut off.
  const history = REDACT === 'store' ? 0 : FEED_HISTORY;
  const url = DATABASE_DIRECT_URL || DATABASE_URL;
  const { epoch, last } = await patiently(options.clock, () => startAt(url));
  const storedEvents = {
    between: (after: number, below: number, limit: number) => stored.between(epoch, { after, below }, limit),
  };
  const exchange = new ClusterFeed({ ...options, url, history, epoch, start: last, stored: storedEvents });
  return { exchange, archive: new ClusterArchive({ epoch, reader: database.reader, stored }) };
}

async function startAt(url: string): ReturnType<typeof readFeedStart> {
  const client = createClient(url);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await readFeedStart(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
