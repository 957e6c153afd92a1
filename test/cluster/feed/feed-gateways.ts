/** Gateways without carriers that share a feed, in one process, for tests. */
import { randomUUID } from 'node:crypto';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import type { FeedNotice } from '../../../src/calls/feed/exchange.ts';
import { Feed, type FeedEntry } from '../../../src/calls/feed/feed.ts';
import type { ClusterFeed } from '../../../src/cluster/feed/cluster-feed.ts';
import { openClusterFeed } from '../../../src/cluster/feed/open-cluster-feed.ts';
import { type Clock, systemClock } from '../../../src/foundation/clock.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { FeedReaders } from '../../../src/http/calls/readers.ts';
import { openPostgresRecords } from '../../../src/records/postgres-records.ts';
import { Records } from '../../../src/records/records.ts';
import { KEPT_AS_IT_IS } from '../../helpers/kept-as-it-is.ts';

/** One reader, as a program sees it. */
export interface TestReader {
  readonly entries: readonly FeedEntry[];
  readonly notices: readonly FeedNotice[];
  /** After which ids events were said to be missing. */
  readonly missing: readonly string[];
  /** The id of the last event that came; undefined = none did. */
  last(): string | undefined;
  /** The texts of the captions that came, in order. */
  texts(): string[];
  cut(): void;
}

/** A gateway: its feed, its records, its readers. */
export interface FeedGateway {
  readonly id: string;
  readonly feed: Feed;
  readonly exchange: ClusterFeed;
  readonly records: Records;
  readonly metrics: Metrics;
  publish(...events: readonly FeedEvent[]): void;
  read(after?: string, callId?: string): TestReader;
  /** Ends it as its operator does. */
  close(): Promise<void>;
  /** Lets go of everything without another word. */
  kill(): Promise<void>;
}

interface GatewayOptions {
  /** Of the feed; left out = as `url`. */
  readonly directUrl?: string;
  readonly history?: number;
  readonly clock?: Clock;
  readonly onDeclaredDead?: () => void;
}

/** A clock on which everything takes `times` less time than it says. */
export function hurried(times: number): Clock {
  return {
    nowMs: () => systemClock.nowMs() * times,
    wall: () => systemClock.wall(),
    after: (delayMs, action, background) => systemClock.after(delayMs / times, action, background),
    every: (periodMs, action, background) => systemClock.every(periodMs / times, action, background),
  };
}

/** Opens a gateway on the database at `url`. */
export async function openFeedGateway(
  url: string,
  { directUrl = url, history = 200, clock = systemClock, onDeclaredDead = () => undefined }: GatewayOptions = {},
): Promise<FeedGateway> {
  const log = createLog('silent');
  const metrics = new Metrics();
  const id = randomUUID();
  const database = await openPostgresRecords(url, { clock: systemClock, log, isShared: true });
  const kept = { ...KEPT_AS_IT_IS, isShared: true };
  const records = new Records({ ...kept, database, folder: null, clock: systemClock, log, metrics });
  const settings = { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl, FEED_HISTORY: history, REDACT: 'off' as const };
  const parts = {
    gateway: id,
    database,
    stored: records.calls,
    onDeclaredDead,
    clock,
    log,
    metrics: metrics.clusterFeed,
  };
  const { exchange, archive } = await openClusterFeed(settings, parts);
  const feed = new Feed({ history, epoch: id, exchange });
  records.share(
    () => true,
    feed,
    () => [],
  );
  records.follow(feed, { get: () => undefined, parameters: () => undefined });
  await exchange.open(feed).catch(async (error: unknown) => {
    await records.close();
    throw error;
  });
  const limits = { readersMax: 1000, bufferMaxBytes: 100_000_000 };
  const readers = new FeedReaders({ feed, archive, clock: systemClock, log, metrics, ...limits });
  return {
    id,
    feed,
    exchange,
    records,
    metrics,
    publish: (...events) => {
      for (const event of events) feed.publish(event);
    },
    read: (after, callId) => readIn(readers, after, callId),
    close: async () => {
      readers.close();
      await records.close();
      await exchange.close();
    },
    kill: async () => {
      readers.close();
      await exchange.stop();
      await database.abandon();
    },
  };
}

function readIn(readers: FeedReaders, after: string | undefined, callId: string | undefined): TestReader {
  const entries: FeedEntry[] = [];
  const notices: FeedNotice[] = [];
  const missing: string[] = [];
  const filter = { ...(after === undefined ? {} : { after }), ...(callId === undefined ? {} : { callId }) };
  const reader = readers.open(filter, {
    kind: 'sse',
    unsentBytes: 0,
    write: (entry, sent) => {
      entries.push(entry);
      sent();
    },
    tellMissing: (id) => void missing.push(id),
    tellNotice: (notice) => void notices.push(notice),
    beat: () => undefined,
    cut: () => undefined,
    close: () => undefined,
  });
  return {
    entries,
    notices,
    missing,
    last: () => entries.at(-1)?.id,
    texts: () => entries.flatMap(({ event }) => (event.type === 'caption' ? [event.text] : [])),
    cut: () => reader.end(),
  };
}
