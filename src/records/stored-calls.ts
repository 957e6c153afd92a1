/** The stored calls and their events, as the API and the readers of the feed see them. */
import type { Selectable } from 'kysely';
import type { CallView } from '../calls/call-view.ts';
import type { ArchivedEntries, FeedArchive } from '../calls/feed/archive.ts';
import type { EndReason, FeedEvent } from '../calls/feed/events.ts';
import type { FeedEntry } from '../calls/feed/feed.ts';
import type { Track } from '../protocols/dialect.ts';
import type { RecordsDatabase } from './records-database.ts';
import type { CallsTable, EventsTable } from './tables.ts';

/** A stored event; `position` counts all stored events. */
export interface StoredEntry extends FeedEntry {
  readonly position: number;
}

type EventRow = Pick<Selectable<EventsTable>, 'position' | 'epoch' | 'number' | 'content'>;

const EVENT_COLUMNS = ['position', 'epoch', 'number', 'content'] as const;

/** `<epoch>-<number>`, as the feed gives it. */
const FEED_ID = /^(?<epoch>.+)-(?<number>[1-9]\d{0,15})$/;

/** Reads what the recorder has stored. */
export class StoredCalls implements FeedArchive {
  /** {@link FeedArchive.settled} */
  readonly settled: () => Promise<void>;
  readonly #database: RecordsDatabase;

  /** `settled` is what whoever records says: {@link FeedArchive.settled}. */
  constructor(database: RecordsDatabase, settled: () => Promise<void>) {
    this.#database = database;
    this.settled = settled;
  }

  /** Undefined = no call of that id is stored. */
  async get(id: string): Promise<CallView | undefined> {
    const row = await this.row(id);
    return row && this.toView(row, await this.tagsOf(row.seq));
  }

  /** The row of a call. */
  row(id: string): Promise<Selectable<CallsTable> | undefined> {
    return this.#database.reader.selectFrom('calls').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** The number of a call in the tables. */
  async seqOf(id: string): Promise<number | undefined> {
    const found = await this.#database.reader.selectFrom('calls').select('seq').where('id', '=', id).executeTakeFirst();
    return found?.seq;
  }

  /** In alphabetical order. */
  async tagsOf(seq: number): Promise<string[]> {
    const query = this.#database.reader.selectFrom('call_tags').select('tag').where('call_seq', '=', seq);
    return (await query.orderBy('tag').execute()).map(({ tag }) => tag);
  }

  /** A row as the API shows it. A call that is not over has no phase here: its gateway alone knows it. */
  toView(row: Selectable<CallsTable>, tags: readonly string[]): CallView {
    const { finals, spoken, keys, gaps } = row;
    return {
      id: row.id,
      carrier: row.carrier,
      from: row.from_party,
      to: row.to_party,
      names: { inbound: row.inbound_name, outbound: row.outbound_name },
      agent: row.agent,
      queue: row.queue,
      app: row.app,
      flow: row.flow,
      flowVersion: row.flow_version,
      appMuted: false,
      appLost: false,
      state: row.state,
      phase: null,
      startedAt: new Date(row.started_ms).toISOString(),
      endedAt: row.ended_ms === null ? null : new Date(row.ended_ms).toISOString(),
      endReason: row.end_reason as EndReason | null,
      tracks: JSON.parse(row.tracks) as Track[],
      lagMs: null,
      worstLagMs: row.worst_lag_ms,
      durationMs: row.duration_ms,
      counts: { finals, spoken, keys, gaps },
      handoffData: row.handoff_data,
      sip: row.sip_status === null ? null : { status: row.sip_status, reason: row.sip_reason ?? '' },
      outcome: row.outcome,
      tags: [...tags],
      sound: row.sound_bytes === null ? null : 'recorded',
    };
  }

  /** At most `limit` events of a call after the position `after`, in the order of their publication. */
  async events(id: string, { after = 0, limit }: { after?: number; limit: number }): Promise<StoredEntry[]> {
    const rows = await this.#database.reader
      .selectFrom('events')
      .select(EVENT_COLUMNS)
      .where('call_seq', '=', (query) => query.selectFrom('calls').select('seq').where('id', '=', id))
      .where('position', '>', after)
      .orderBy('position')
      .limit(limit)
      .execute();
    return rows.map(toEntry);
  }

  /**
   * At most `limit` stored events of the feed `epoch` with numbers from `after` + 1 to `below` - 1, by their numbers:
   * several gateways store the events of one feed, so they have no order but that. `callId` = only that call's.
   */
  async between(
    epoch: string,
    { after, below, callId }: { readonly after: number; readonly below: number; readonly callId?: string | undefined },
    limit: number,
  ): Promise<readonly FeedEntry[]> {
    let query = this.#database.reader
      .selectFrom('events')
      .select(EVENT_COLUMNS)
      .where('epoch', '=', epoch)
      .where('number', '>', after)
      .where('number', '<', below);
    if (callId !== undefined)
      query = query.where('call_seq', '=', (calls) => calls.selectFrom('calls').select('seq').where('id', '=', callId));
    return (await query.orderBy('number').limit(limit).execute()).map(toEntry);
  }

  /** {@link FeedArchive.after} */
  async after(
    id: string | null,
    { callId, except }: { callId?: string | undefined; except?: string },
    limit: number,
  ): Promise<ArchivedEntries> {
    const position = id === null ? 0 : await this.#positionOf(id);
    let query = this.#database.reader.selectFrom('events').select(EVENT_COLUMNS).where('position', '>', position);
    if (except !== undefined) query = query.where('epoch', '<>', except);
    if (callId !== undefined)
      query = query.where('call_seq', '=', (calls) => calls.selectFrom('calls').select('seq').where('id', '=', callId));
    const rows = await query.orderBy('position').limit(limit).execute();
    return { entries: rows.map(toEntry), complete: rows.length < limit };
  }

  /** {@link FeedArchive.knows} */
  async knows(id: string): Promise<boolean> {
    const { epoch } = FEED_ID.exec(id)?.groups ?? {};
    if (epoch === undefined) return false;
    const query = this.#database.reader.selectFrom('events').select('position').where('epoch', '=', epoch);
    return (await query.limit(1).executeTakeFirst()) !== undefined;
  }

  /** {@link FeedArchive.latestCallIds} */
  async latestCallIds(limit: number): Promise<readonly string[]> {
    await this.#database.opened;
    const query = this.#database.reader.selectFrom('calls').select('id').orderBy('seq', 'desc').limit(limit);
    return (await query.execute()).map(({ id }) => id);
  }

  /** Whose the last `limit` calls were, the oldest first. */
  async latestAgents(limit: number): Promise<readonly { readonly id: string; readonly agent: string | null }[]> {
    const latest = this.#database.reader
      .selectFrom('calls')
      .select(['id', 'agent'])
      .orderBy('seq', 'desc')
      .limit(limit);
    return (await latest.execute()).toReversed();
  }

  /** The last stored event up to the one with this id; 0 = that says nothing here. */
  async #positionOf(id: string): Promise<number> {
    const { epoch, number } = FEED_ID.exec(id)?.groups ?? {};
    if (epoch === undefined) return 0;
    const found = await this.#database.reader
      .selectFrom('events')
      .select('position')
      .where('epoch', '=', epoch)
      .where('number', '<=', Number(number))
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (found !== undefined) return found.position;
    return this.#beforeEpoch(epoch);
  }

  /** An id from before the first stored event of its epoch: partial captions come first. */
  async #beforeEpoch(epoch: string): Promise<number> {
    const query = this.#database.reader.selectFrom('events').select('position').where('epoch', '=', epoch);
    const first = await query.orderBy('number').limit(1).executeTakeFirst();
    return first === undefined ? 0 : first.position - 1;
  }
}

function toEntry({ position, epoch, number, content }: EventRow): StoredEntry {
  return { position, id: `${epoch}-${number}`, event: JSON.parse(content) as FeedEvent, json: content };
}
