/** Writes events of calls, and what they change, in one transaction. */
import { randomUUID } from 'node:crypto';
import { type Compilable, type Insertable, type Kysely, sql, type Transaction } from 'kysely';
import type { CallUpdatedEvent } from '../calls/feed/events.ts';
import { isDatabaseTrouble } from '../foundation/database/trouble.ts';
import { DiskError } from '../foundation/folders/disk.ts';
import type { NumberedText } from './call-tally.ts';
import { splitFeedId } from './feed-id.ts';
import type { RecordsDatabase } from './records-database.ts';
import type { Rewrite } from './redaction/stored-call.ts';
import { searchWordsOf } from './search/search-words.ts';
import type { CallsTable, Tables, TextsTable } from './tables.ts';
import { storeWebhooks } from './webhooks/store-webhooks.ts';

/** Ids of texts: {@link Tables.texts}. */
export const TEXTS_PER_CALL = 2 ** 20;

/** A call whose row is stored with its events. */
export interface StoredTally {
  readonly id: string;
  /** Where its row is; null = it has not been stored yet. */
  seq: number | null;
  /** As it is now. */
  row(): Insertable<CallsTable>;
}

/** One event that is to be stored. */
export interface RecordedEvent {
  readonly epoch: string;
  /** In the feed's id. */
  readonly number: number;
  readonly callId: string;
  readonly type: string;
  readonly atMs: number;
  /** JSON. */
  readonly content: string;
  /** The call, where this gateway holds it; null = one that is stored already. */
  readonly tally: StoredTally | null;
  readonly text: NumberedText | null;
  /** Where a flow sends it; null = nowhere. */
  readonly target: string | null;
  /** What people say of the call; null = this event says nothing of it. */
  readonly update: Pick<CallUpdatedEvent, 'outcome' | 'tags'> | null;
}

/** That the gateway with this epoch lived at `atMs`. */
export interface SignOfLife {
  readonly epoch: string;
  readonly atMs: number;
}

/** The name in `meta` under which a gateway says that it lives. */
export function aliveName(epoch: string): string {
  return `alive:${epoch}`;
}

type Seqs = Map<string, number>;

/** Where webhooks that are due are put as well. */
export interface DueWebhooks {
  /** Events of these types. */
  readonly types: ReadonlySet<string>;
  /** Called when there is something new. */
  readonly onNew: () => void;
}

interface WriterOptions {
  readonly database: RecordsDatabase;
  /** False = another gateway may have ended our calls. */
  readonly mayWrite: () => boolean;
  /** Null = no types of events are delivered. */
  readonly webhooks: () => DueWebhooks | null;
}

const NO_TYPES: ReadonlySet<string> = new Set();

/** The one that writes what calls tell. Writing the same again changes nothing. */
export class RecordWriter {
  readonly #options: WriterOptions;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /**
   * Stores `events` with the rows of their calls; events of calls that were deleted are passed over.
   * @throws DiskError and other errors that `isDatabaseTrouble` knows when it may be tried again; the database's error
   * when it refuses
   */
  async write(events: readonly RecordedEvent[], alive: SignOfLife | null): Promise<void> {
    if (events.length === 0 && alive === null) return;
    const { db } = this.#options.database;
    this.#requireOurs();
    if (await this.#writeAtOnce(events, alive)) return;
    const { types = NO_TYPES, onNew } = this.#options.webhooks() ?? {};
    const webhooks = await db.transaction().execute((transaction) => storeAll(transaction, { events, alive, types }));
    if (webhooks > 0) onNew?.();
  }

  /** How far a call is stored; undefined = it is not. @throws the error of the database */
  rowOf(callId: string): Promise<Pick<CallsTable, 'state' | 'end_reason'> | undefined> {
    const query = this.#options.database.db.selectFrom('calls').select(['state', 'end_reason']);
    return query.where('id', '=', callId).executeTakeFirst();
  }

  /** Whether the database is still ours, and lets us write, as far as can be seen. @throws as {@link write} */
  async check(): Promise<void> {
    this.#requireOurs();
    await this.#options.database.check();
  }

  /**
   * Writes a row into each table, and takes it back.
   * @throws the error of the database: what was to be written cannot be blamed for it
   */
  async probe(): Promise<void> {
    await this.check();
    const takenBack = new Error('taken back');
    const { events, alive, types } = probeOf(randomUUID());
    await this.#options.database.db
      .transaction()
      .execute(async (transaction) => {
        await storeAll(transaction, { events, alive, types });
        throw takenBack;
      })
      .catch((error: unknown) => {
        if (error !== takenBack) throw error;
      });
  }

  /** Gives stored events other contents; those that were deleted are passed over. @throws as {@link write} */
  async rewrite(rewrites: readonly Rewrite[]): Promise<void> {
    const { db } = this.#options.database;
    this.#requireOurs();
    await db.transaction().execute(async (transaction) => {
      for (const rewrite of rewrites) await storeRewrite(transaction, rewrite);
    });
  }

  #requireOurs(): void {
    const { database, mayWrite } = this.#options;
    database.requireOurs();
    if (!mayWrite()) throw new DiskError('the database of the records is not ours for now');
  }

  /**
   * Where all calls are known already and no webhook is due, nothing has to be read, and all statements go to the
   * database in one message. False = it is not so, or the database refused: a call may have been deleted meanwhile.
   */
  async #writeAtOnce(events: readonly RecordedEvent[], alive: SignOfLife | null): Promise<boolean> {
    const { db } = this.#options.database;
    const types = this.#options.webhooks()?.types ?? NO_TYPES;
    const seqs: Seqs = new Map();
    for (const { callId, tally, type, target } of events) {
      if (tally === null || tally.seq === null || target !== null || types.has(type)) return false;
      seqs.set(callId, tally.seq);
    }
    const rows = callRows(events);
    const calls = rows.length === 0 ? [] : [upsertCalls(db, rows)];
    const queries = [...calls, ...changes(db, events, seqs, alive)].map((query) => query.compile());
    try {
      await this.#options.database.runAtomically(queries);
      return true;
    } catch (error) {
      if (isDatabaseTrouble(error)) throw error;
      return false;
    }
  }
}

interface Stored {
  readonly events: readonly RecordedEvent[];
  readonly alive: SignOfLife | null;
  /** {@link RecordWriter.webhookTypes} */
  readonly types: ReadonlySet<string>;
}

/** Returns how many webhooks are due. */
async function storeAll(transaction: Transaction<Tables>, { events, alive, types }: Stored): Promise<number> {
  const seqs = await storeCalls(transaction, events);
  await findOthers(transaction, events, seqs);
  for (const query of changes(transaction, events, seqs, alive)) await query.execute();
  return storeWebhooks(transaction, { events, seqs, types });
}

/** An event of a call that there is not, which touches every table that events do. */
function probeOf(id: string): Stored {
  const row = {
    id,
    carrier: 'probe',
    state: 'ended' as const,
    gateway: id,
    started_ms: 0,
    duration_ms: 0,
    parameters: '{}',
    tracks: '[]',
    finals: 0,
    spoken: 0,
    keys: 0,
    gaps: 0,
  };
  const text = { number: 1, kind: 'caption' as const, track: 'inbound' as const, utterance: '1', version: 1 };
  const event: RecordedEvent = {
    epoch: id,
    number: 1,
    callId: id,
    type: 'probe',
    atMs: 0,
    content: '{}',
    tally: { id, seq: null, row: () => row },
    text: { ...text, text: 'probe', start_ms: 0, end_ms: 0 },
    target: null,
    update: { outcome: null, tags: ['probe'] },
  };
  return { events: [event], alive: { epoch: id, atMs: 0 }, types: new Set(['probe']) };
}

async function storeRewrite(transaction: Transaction<Tables>, { id, event }: Rewrite): Promise<void> {
  const { epoch, number } = splitFeedId(id);
  const content = JSON.stringify(event);
  await transaction
    .updateTable('events')
    .set({ content })
    .where('epoch', '=', epoch)
    .where('number', '=', number)
    .execute();
  if (event.type !== 'caption' && event.type !== 'revision' && event.type !== 'spoken') return;
  const isSpoken = event.type === 'spoken';
  const text = isSpoken ? event.heardText : event.text;
  await transaction
    .updateTable('texts')
    .set({ text, search_words: searchWordsOf(text) })
    .where('call_seq', '=', (query) => query.selectFrom('calls').select('seq').where('id', '=', event.callId))
    .where('kind', '=', isSpoken ? 'spoken' : 'caption')
    .where('track', '=', isSpoken ? 'outbound' : event.track)
    .where('utterance', '=', String(event.utterance))
    .where('version', '=', event.type === 'revision' ? event.version : 1)
    .execute();
}

type Rows = readonly Insertable<CallsTable>[];

function talliesOf(events: readonly RecordedEvent[]): ReadonlyMap<string, StoredTally> {
  return new Map(events.flatMap(({ tally }) => (tally === null ? [] : [[tally.id, tally] as const])));
}

function callRows(events: readonly RecordedEvent[]): Rows {
  return [...talliesOf(events).values()].map((tally) => tally.row());
}

/** Of a call that is stored under another gateway with the same id, nothing is changed: its events are added to it. */
function upsertCalls(db: Kysely<Tables>, rows: Rows) {
  return db
    .insertInto('calls')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(({ ref, fn }) => ({
          from_party: ref('excluded.from_party'),
          to_party: ref('excluded.to_party'),
          inbound_name: ref('excluded.inbound_name'),
          outbound_name: ref('excluded.outbound_name'),
          agent: ref('excluded.agent'),
          queue: ref('excluded.queue'),
          app: ref('excluded.app'),
          flow: ref('excluded.flow'),
          flow_version: ref('excluded.flow_version'),
          state: ref('excluded.state'),
          started_ms: ref('excluded.started_ms'),
          ended_ms: ref('excluded.ended_ms'),
          end_reason: ref('excluded.end_reason'),
          duration_ms: ref('excluded.duration_ms'),
          length_ms: ref('excluded.length_ms'),
          handoff_data: ref('excluded.handoff_data'),
          parameters: ref('excluded.parameters'),
          tracks: ref('excluded.tracks'),
          finals: ref('excluded.finals'),
          spoken: ref('excluded.spoken'),
          keys: ref('excluded.keys'),
          gaps: ref('excluded.gaps'),
          worst_lag_ms: ref('excluded.worst_lag_ms'),
          // People may have chosen another time.
          keep_until_ms: fn.coalesce('calls.keep_until_ms', 'excluded.keep_until_ms'),
        }))
        .whereRef('calls.gateway', '=', 'excluded.gateway'),
    );
}

async function storeCalls(transaction: Transaction<Tables>, events: readonly RecordedEvent[]): Promise<Seqs> {
  const tallies = talliesOf(events);
  if (tallies.size === 0) return new Map();
  const stored = await upsertCalls(transaction, callRows(events)).returning(['id', 'seq']).execute();
  for (const { id, seq } of stored) {
    const tally = tallies.get(id);
    if (tally !== undefined) tally.seq = seq;
  }
  return new Map(stored.map(({ id, seq }) => [id, seq]));
}

/** The numbers of calls that are stored and that no tally has. */
async function findOthers(transaction: Transaction<Tables>, events: readonly RecordedEvent[], seqs: Seqs) {
  const missing = [...new Set(events.map(({ callId }) => callId))].filter((id) => !seqs.has(id));
  if (missing.length === 0) return;
  const found = await transaction.selectFrom('calls').select(['id', 'seq']).where('id', 'in', missing).execute();
  for (const { id, seq } of found) seqs.set(id, seq);
}

type Query = Compilable & { execute(): Promise<unknown> };

/** What is changed beside the rows of the calls, in this order. */
function changes(db: Kysely<Tables>, events: readonly RecordedEvent[], seqs: Seqs, alive: SignOfLife | null): Query[] {
  return [
    ...addEvents(db, events, seqs),
    ...changeTexts(db, events, seqs),
    ...changeRemarks(db, events, seqs),
    ...(alive === null ? [] : [sayAlive(db, alive)]),
  ];
}

function addEvents(db: Kysely<Tables>, events: readonly RecordedEvent[], seqs: Seqs): Query[] {
  const rows = events.flatMap(({ epoch, number, callId, type, atMs, content }) => {
    const call_seq = seqs.get(callId);
    return call_seq === undefined ? [] : [{ epoch, number, call_seq, type, at_ms: atMs, content }];
  });
  if (rows.length === 0) return [];
  const query = db.insertInto('events').values(rows);
  return [query.onConflict((conflict) => conflict.columns(['epoch', 'number']).doNothing())];
}

/** Of each utterance the latest version alone: PostgreSQL does not change a row twice in one statement. */
function changeTexts(db: Kysely<Tables>, events: readonly RecordedEvent[], seqs: Seqs): Query[] {
  const rows = new Map<number, Insertable<TextsTable>>();
  for (const { callId, text } of events) {
    const call_seq = seqs.get(callId);
    if (call_seq === undefined || text === null) continue;
    const { number, ...rest } = text;
    const id = call_seq * TEXTS_PER_CALL + number;
    const search_words = searchWordsOf(text.text);
    if (text.version >= (rows.get(id)?.version ?? 0)) rows.set(id, { id, call_seq, search_words, ...rest });
  }
  if (rows.size === 0) return [];
  const query = db.insertInto('texts').values([...rows.values()]);
  return [
    query.onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(({ ref }) => ({
          text: ref('excluded.text'),
          search_words: ref('excluded.search_words'),
          version: ref('excluded.version'),
        }))
        .whereRef('excluded.version', '>', 'texts.version'),
    ),
  ];
}

/** Outcome and tags, as people chose them last. */
function changeRemarks(db: Kysely<Tables>, events: readonly RecordedEvent[], seqs: Seqs): Query[] {
  return events.flatMap(({ callId, update }): Query[] => {
    const call_seq = seqs.get(callId);
    if (update === null || call_seq === undefined) return [];
    const started_ms = sql<number>`(SELECT started_ms FROM calls WHERE seq = ${call_seq})`;
    const tags = [...new Set(update.tags)].map((tag) => ({ call_seq, tag, started_ms }));
    return [
      db.updateTable('calls').set({ outcome: update.outcome }).where('seq', '=', call_seq),
      db.deleteFrom('call_tags').where('call_seq', '=', call_seq),
      ...(tags.length === 0 ? [] : [db.insertInto('call_tags').values(tags)]),
    ];
  });
}

function sayAlive(db: Kysely<Tables>, { epoch, atMs }: SignOfLife): Query {
  return db
    .insertInto('meta')
    .values({ name: aliveName(epoch), value: String(atMs) })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: String(atMs) }));
}
