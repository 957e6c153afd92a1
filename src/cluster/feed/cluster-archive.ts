/** Where a reader that resumes gets what the memory of its gateway does not have, of all gateways. */
import { type Kysely, sql } from 'kysely';
import type { ArchivedEntries, FeedArchive } from '../../calls/feed/archive.ts';
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { PlacedEntry } from '../../calls/feed/exchange.ts';
import type { FeedEntry } from '../../calls/feed/feed.ts';
import { type FeedPosition, readFeedPosition } from '../../calls/feed/feed-position.ts';
import { Resume } from '../../calls/feed/resume.ts';
import type { StoredCalls } from '../../records/stored-calls.ts';
import type { Tables } from '../../records/tables.ts';

/** The highest number that a position may have, and one more. */
const NO_END = Number.MAX_SAFE_INTEGER;

interface ArchiveOptions {
  readonly epoch: string;
  readonly reader: Kysely<Tables>;
  readonly stored: StoredCalls;
}

interface TableRow {
  readonly number: number;
  readonly gateway: string;
  readonly local_number: number;
  readonly content: string;
}

type Filter = { readonly callId?: string | undefined };

/**
 * The latest events are in the table of the feed, partial captions too; those before them in the records, and also
 * those that a crash of the server took from the table. All in the order of their numbers.
 */
export class ClusterArchive implements FeedArchive {
  readonly #options: ArchiveOptions;

  constructor(options: ArchiveOptions) {
    this.#options = options;
  }

  /** {@link FeedArchive.after} */
  async after(id: string | null, { callId }: Filter, limit: number): Promise<ArchivedEntries> {
    const { epoch, stored } = this.#options;
    const position = id === null ? null : readFeedPosition(id);
    if (position?.epoch === epoch) return this.#afterPosition(position, { callId }, limit);
    // From before this database had several gateways.
    const older = await stored.after(id, { callId, except: epoch }, limit);
    if (!older.complete) return older;
    const newer = await this.#afterPosition({ epoch, number: 0, ahead: null }, { callId }, limit);
    return { entries: [...older.entries, ...newer.entries], complete: newer.complete };
  }

  /** {@link FeedArchive.settled} */
  settled(): Promise<void> {
    return this.#options.stored.settled();
  }

  /** {@link FeedArchive.knows} */
  async knows(id: string): Promise<boolean> {
    return readFeedPosition(id)?.epoch === this.#options.epoch || this.#options.stored.knows(id);
  }

  /** {@link FeedArchive.isAhead} */
  async isAhead(id: string): Promise<boolean> {
    const position = readFeedPosition(id);
    if (position?.epoch !== this.#options.epoch) return false;
    const { rows } = await sql<{ last: number }>`SELECT last_value AS last FROM feed_number`.execute(
      this.#options.reader,
    );
    return position.number > (rows[0]?.last ?? NO_END);
  }

  /** {@link FeedArchive.latestCallIds} */
  latestCallIds(limit: number): Promise<readonly string[]> {
    return this.#options.stored.latestCallIds(limit);
  }

  async #afterPosition(position: FeedPosition, filter: Filter, limit: number): Promise<ArchivedEntries> {
    const { epoch, stored } = this.#options;
    const { number } = position;
    const first = await this.#firstInTable();
    if (first !== null && first <= number + 1) return this.#fromTable(position, filter, limit);
    const kept = await stored.between(epoch, { after: number, below: first ?? NO_END, ...filter }, limit);
    if (kept.length === limit || first === null) return { entries: kept, complete: kept.length < limit };
    const { entries, complete } = await this.#fromTable({ ...position, number: first - 1 }, filter, limit);
    return { entries: [...kept, ...entries], complete };
  }

  async #firstInTable(): Promise<number | null> {
    const { rows } = await sql<{ first: number | null }>`SELECT min(number) AS first FROM feed`.execute(
      this.#options.reader,
    );
    return rows[0]?.first ?? null;
  }

  async #fromTable(position: FeedPosition, { callId = '' }: Filter, limit: number): Promise<ArchivedEntries> {
    const resume = new Resume(position);
    const entries: FeedEntry[] = [];
    for (let after = position.number; ; ) {
      const { rows } = await sql<TableRow>`
        SELECT number, gateway, local_number, content FROM feed
        WHERE number > ${after} AND (${callId} = '' OR call_id = ${callId})
        ORDER BY number LIMIT ${limit}
      `.execute(this.#options.reader);
      for (const row of rows) {
        const taken = resume.take(this.#toEntry(row));
        if (taken !== null) entries.push(taken);
      }
      const complete = rows.length < limit;
      // A page of which the reader has all tells it nothing, not even how far it is.
      if (complete || entries.length > 0) return { entries, complete };
      after = rows.at(-1)?.number ?? after;
    }
  }

  #toEntry({ number, gateway, local_number, content }: TableRow): PlacedEntry {
    const event = JSON.parse(content) as FeedEvent;
    const id = `${this.#options.epoch}-${number}`;
    return { id, event, json: content, gateway, localNumber: local_number, number, reached: number, ahead: null };
  }
}
