/**
 * The readers of the caption feed: limits their number and their backlog, and ends them at shutdown.
 */
import type { FeedArchive } from '../../calls/feed/archive.ts';
import type { FeedNotice } from '../../calls/feed/exchange.ts';
import type { Feed, FeedEntry, FeedFilter } from '../../calls/feed/feed.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { describeTrouble } from '../../foundation/database/trouble.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import { HEARTBEAT_MS } from '../server/server-sent-events.ts';
import { catchUp } from './catch-up.ts';

/**
 * While more than this is unsent, entries wait as references to the feed's own entries, not as copies in a socket.
 */
const WRITE_AHEAD_BYTES = 65_536;
/** Written entries are removed from the queue in blocks of at least this many. */
const COMPACT_ENTRIES = 1024;

/** A reader that takes none of the stored events that it asked for in this time is cut. */
const STALLED_MS = 60_000;

/** The connection of one reader. */
export interface FeedSink {
  readonly kind: 'sse' | 'websocket';
  /** Bytes that were written but not yet sent to the network. */
  readonly unsentBytes: number;
  /** Writes one entry; calls `sent` when it has been sent. */
  write(entry: FeedEntry, sent: () => void): void;
  /** Says that events after the one with the id `after`, and before those that follow, cannot be given. */
  tellMissing(after: string): void;
  /** Says whether events of other gateways come. */
  tellNotice(notice: FeedNotice): void;
  /** Shows the reader, and proxies on the way, that the connection is alive. */
  beat(): void;
  /** Ends the connection of a reader that was too slow. */
  cut(): void;
  /** Ends the connection because the server does. */
  close(): void;
}

/** What a reader gets. */
export interface ReaderFilter extends FeedFilter {
  /** Called with stored events before `allows` is; what it rejects with ends the replay of those. */
  readonly prepare?: (entries: readonly FeedEntry[]) => Promise<void>;
}

/** A subscription. Its owner ends it when the connection has closed. */
export interface FeedReader {
  /** Idempotent. */
  end(): void;
}

interface ReadersOptions {
  readonly feed: Pick<Feed, 'subscribe' | 'watchNotices' | 'reaches' | 'isBeyond' | 'isWhole'>;
  /** Where the events are that the feed no longer has; null = nowhere. */
  readonly archive: FeedArchive | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly readersMax: number;
  /** Most bytes that may wait for one reader, without replayed events. */
  readonly bufferMaxBytes: number;
}

/** The open readers of one server's feed. */
export class FeedReaders {
  readonly #options: ReadersOptions;
  readonly #open = new Set<Reader>();
  #closed = false;

  constructor(options: ReadersOptions) {
    this.#options = options;
  }

  /** @throws TrunklineError `too_many_readers` or, when the server is closing, `draining` */
  assertRoom(): void {
    const { readersMax } = this.#options;
    if (this.#closed) throw new TrunklineError('draining', 'the server is shutting down and takes no new readers');
    if (this.#open.size >= readersMax)
      throw new TrunklineError(
        'too_many_readers',
        `${readersMax} caption feeds are open, the most allowed (a fifth of CONNECTIONS_MAX)`,
      );
  }

  /**
   * Writes all events that pass `filter` to `sink` until the reader is ended.
   * @throws TrunklineError as {@link assertRoom}
   */
  open(filter: ReaderFilter, sink: FeedSink): FeedReader {
    this.assertRoom();
    const { metrics } = this.#options;
    const reader: Reader = new Reader({
      ...this.#options,
      sink,
      onEnded: () => {
        this.#open.delete(reader);
        metrics.feedReaders.dec({ kind: sink.kind });
      },
    });
    this.#open.add(reader);
    metrics.feedReaders.inc({ kind: sink.kind });
    reader.start(filter);
    return reader;
  }

  /** Ends all readers and admits no more. */
  close(): void {
    this.#closed = true;
    for (const reader of [...this.#open]) reader.close();
  }
}

type ReaderOptions = ReadersOptions & { readonly sink: FeedSink; readonly onEnded: () => void };

class Reader implements FeedReader {
  readonly #options: ReaderOptions;
  /** What is for the sink. From `#next` on it waits until the sink has sent what it has. */
  readonly #line: (FeedEntry | FeedNotice)[] = [];
  #next = 0;
  /**
   * Bytes of the waiting entries that were not replayed. The feed's history bounds the replay, however slow the reader.
   */
  #waitingLiveBytes = 0;
  #replaying = true;
  #replayed = 0;
  #heartbeat: Timer | null = null;
  #unsubscribe: (() => void) | null = null;
  #unwatch: () => void = () => undefined;
  #ended = false;
  /** Is called when no entry waits any more, or the reader has ended. */
  #onDrained: (() => void) | null = null;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  start(filter: ReaderFilter): void {
    const { archive, clock, feed, sink } = this.#options;
    this.#heartbeat = clock.every(HEARTBEAT_MS, () => sink.beat(), true);
    this.#unwatch = feed.watchNotices((notice) => this.#takeNotice(notice));
    const { after } = filter;
    if (after === undefined || archive === null) this.#follow(filter);
    else if (feed.isBeyond(after)) void this.#followFrom(after, filter, archive);
    else if (feed.reaches(after)) this.#follow(filter);
    else void this.#readStored({ ...filter, after }, archive);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#heartbeat?.cancel();
    this.#unsubscribe?.();
    this.#unwatch();
    this.#line.length = 0;
    this.#next = 0;
    this.#onDrained?.();
    this.#options.onEnded();
  }

  close(): void {
    this.end();
    this.#options.sink.close();
  }

  #follow(filter: FeedFilter): void {
    this.#replaying = true;
    const unsubscribe = this.#options.feed.subscribe(filter, (entry) => this.#take(entry));
    this.#replaying = false;
    if (this.#ended) unsubscribe();
    else this.#unsubscribe = unsubscribe;
  }

  /**
   * Another gateway may be further than this one. If none is, the reader would get nothing until the feed comes to the
   * event that it names, and that will be another one.
   */
  async #followFrom(after: string, filter: ReaderFilter, archive: FeedArchive): Promise<void> {
    const { log } = this.#options;
    const isAhead = await archive.isAhead?.(after).catch(() => false);
    if (this.#ended) return;
    if (!isAhead) {
      this.#follow(filter);
      return;
    }
    log.warn('a reader of the feed has events that the database does not have: it was restored from before them');
    this.#tellMissing(after);
    const { after: _, ...fromNow } = filter;
    this.#follow(fromNow);
  }

  #tellMissing(after: string): void {
    this.#options.metrics.feedReadersMissing.inc();
    this.#options.sink.tellMissing(after);
  }

  /** What cannot be read is left out, and the reader is told: live events are worth more than none. */
  async #readStored(filter: ReaderFilter & { readonly after: string }, archive: FeedArchive): Promise<void> {
    const { feed, clock, log } = this.#options;
    const take = (entries: readonly FeedEntry[]) => this.#takeStored(entries, filter);
    const { last, missing } = await catchUp({ feed, archive, clock, filter, take });
    if (this.#ended) return;
    if (missing !== null) {
      log.warn(
        { reason: describeTrouble(missing) },
        'a reader of the feed goes on without stored events, and is told: they cannot be read',
      );
      this.#tellMissing(last);
    }
    this.#follow({ ...filter, after: last });
  }

  /** Resolves when they are written, with whether the reader is still there. */
  async #takeStored(entries: readonly FeedEntry[], { allows, prepare }: ReaderFilter): Promise<boolean> {
    await prepare?.(entries);
    for (const entry of entries) if (allows === undefined || allows(entry)) this.#take(entry);
    if (this.#ended || this.#line.length === 0) return !this.#ended;
    const drained = new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
    const isDrained = await settlesWithin(this.#options.clock, drained, STALLED_MS);
    this.#onDrained = null;
    if (!isDrained && !this.#ended) this.#cut();
    return !this.#ended;
  }

  #take(entry: FeedEntry): void {
    if (this.#ended) return;
    this.#line.push(entry);
    if (this.#replaying) this.#replayed += 1;
    else this.#waitingLiveBytes += Buffer.byteLength(entry.json);
    this.#pump();
    const { sink, bufferMaxBytes } = this.#options;
    if (this.#waitingLiveBytes + sink.unsentBytes > bufferMaxBytes) this.#cut();
  }

  /** In its place among the events. */
  #takeNotice(notice: FeedNotice): void {
    if (this.#ended) return;
    this.#line.push(notice);
    this.#pump();
  }

  #pump(): void {
    const { sink, bufferMaxBytes } = this.#options;
    const writeAheadBytes = Math.min(WRITE_AHEAD_BYTES, bufferMaxBytes / 2);
    while (!this.#ended && sink.unsentBytes <= writeAheadBytes) {
      const entry = this.#shift();
      if (entry === undefined) break;
      if (!('json' in entry)) {
        sink.tellNotice(entry);
        continue;
      }
      if (this.#replayed > 0) this.#replayed -= 1;
      else this.#waitingLiveBytes -= Buffer.byteLength(entry.json);
      sink.write(entry, () => this.#pump());
    }
    if (this.#line.length === 0) this.#onDrained?.();
  }

  /** What waits next. Not `Array.shift`, which moves all others: a replay may have 100,000 entries. */
  #shift(): FeedEntry | FeedNotice | undefined {
    const entry = this.#line[this.#next];
    if (entry !== undefined) this.#next += 1;
    if (this.#next === this.#line.length || this.#next >= COMPACT_ENTRIES) {
      this.#line.splice(0, this.#next);
      this.#next = 0;
    }
    return entry;
  }

  #cut(): void {
    this.#options.metrics.feedReadersCut.inc();
    this.#options.metrics.refused.inc({ code: 'reader_too_slow' });
    this.end();
    this.#options.sink.cut();
  }
}
