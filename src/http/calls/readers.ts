/**
 * The readers of the caption feed: limits their number and their backlog, and ends them at shutdown.
 */
import type { Feed, FeedEntry, FeedFilter } from '../../calls/feed/feed.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { HEARTBEAT_MS } from '../server/server-sent-events.ts';

/**
 * While more than this is unsent, entries wait as references to the feed's own entries, not as copies in a socket.
 */
const WRITE_AHEAD_BYTES = 65_536;
/** Written entries are removed from the queue in blocks of at least this many. */
const COMPACT_ENTRIES = 1024;

/** The connection of one reader. */
export interface FeedSink {
  readonly kind: 'sse' | 'websocket';
  /** Bytes that were written but not yet sent to the network. */
  readonly unsentBytes: number;
  /** Writes one entry; calls `sent` when it has been sent. */
  write(entry: FeedEntry, sent: () => void): void;
  /** Shows the reader, and proxies on the way, that the connection is alive. */
  beat(): void;
  /** Ends the connection of a reader that was too slow. */
  cut(): void;
  /** Ends the connection because the server does. */
  close(): void;
}

/** A subscription. Its owner ends it when the connection has closed. */
export interface FeedReader {
  /** Idempotent. */
  end(): void;
}

interface ReadersOptions {
  readonly feed: Pick<Feed, 'subscribe'>;
  readonly clock: Clock;
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
        `${readersMax} caption feeds are open, the most allowed (FEED_READERS_MAX)`,
      );
  }

  /**
   * Writes all events that pass `filter` to `sink` until the reader is ended.
   * @throws TrunklineError as {@link assertRoom}
   */
  open(filter: FeedFilter, sink: FeedSink): FeedReader {
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
  /** Entries for the sink. Those from `#next` on wait until the sink has sent what it has. */
  readonly #line: FeedEntry[] = [];
  #next = 0;
  /**
   * Bytes of the waiting entries that were not replayed. The feed's history bounds the replay, however slow the reader.
   */
  #waitingLiveBytes = 0;
  #replaying = true;
  #replayed = 0;
  #heartbeat: Timer | null = null;
  #unsubscribe: (() => void) | null = null;
  #ended = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  start(filter: FeedFilter): void {
    const { clock, feed, sink } = this.#options;
    this.#heartbeat = clock.every(HEARTBEAT_MS, () => sink.beat(), true);
    const unsubscribe = feed.subscribe(filter, (entry) => this.#take(entry));
    this.#replaying = false;
    if (this.#ended) unsubscribe();
    else this.#unsubscribe = unsubscribe;
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#heartbeat?.cancel();
    this.#unsubscribe?.();
    this.#line.length = 0;
    this.#next = 0;
    this.#options.onEnded();
  }

  close(): void {
    this.end();
    this.#options.sink.close();
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

  #pump(): void {
    const { sink, bufferMaxBytes } = this.#options;
    const writeAheadBytes = Math.min(WRITE_AHEAD_BYTES, bufferMaxBytes / 2);
    while (!this.#ended && sink.unsentBytes <= writeAheadBytes) {
      const entry = this.#shift();
      if (entry === undefined) return;
      if (this.#replayed > 0) this.#replayed -= 1;
      else this.#waitingLiveBytes -= Buffer.byteLength(entry.json);
      sink.write(entry, () => this.#pump());
    }
  }

  /** The next waiting entry. Not `Array.shift`, which moves all others: a replay may have 100,000 entries. */
  #shift(): FeedEntry | undefined {
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
