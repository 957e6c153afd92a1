/** Writes events of calls, and what they change, in one transaction. */
import type { Insertable, Transaction } from 'kysely';
import type { CallUpdatedEvent } from '../calls/feed/events.ts';
import { DiskError } from '../foundation/folders/disk.ts';
import type { CallTally, NumberedText } from './call-tally.ts';
import { splitFeedId } from './feed-id.ts';
import type { RecordsDatabase } from './records-database.ts';
import type { Rewrite } from './redaction/stored-call.ts';
import type { Tables, TextsTable } from './tables.ts';
import { storeWebhooks } from './webhooks/store-webhooks.ts';

/** Ids of texts: {@link Tables.texts}. */
const TEXTS_PER_CALL = 2 ** 20;

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
  readonly tally: CallTally | null;
  readonly text: NumberedText | null;
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

/** The one that writes what calls tell. Writing the same again changes nothing. */
export class RecordWriter {
  /** Events of these types go into the outbox of webhooks as well. */
  webhookTypes: ReadonlySet<string> = new Set();
  /** Called when there is something new in the outbox. */
  onWebhooks: () => void = () => undefined;
  readonly #database: RecordsDatabase;

  constructor(database: RecordsDatabase) {
    this.#database = database;
  }

  /**
   * Stores `events` with the rows of their calls; events of calls that were deleted are passed over.
   * @throws DiskError and other errors that `isDatabaseTrouble` knows when it may be tried again; the database's error
   * when it refuses
   */
  async write(events: readonly RecordedEvent[], alive: SignOfLife | null): Promise<void> {
    if (events.length === 0 && alive === null) return;
    const { db, isOurs } = this.#database;
    if (!isOurs) throw new DiskError('the database of the records is not ours for now');
    let webhooks = 0;
    await db.transaction().execute(async (transaction) => {
      const seqs = await storeCalls(transaction, events);
      await findOthers(transaction, events, seqs);
      await storeEvents(transaction, events, seqs);
      await storeTexts(transaction, events, seqs);
      await storeUpdates(transaction, events, seqs);
      webhooks = await storeWebhooks(transaction, { events, seqs, types: this.webhookTypes });
      if (alive !== null) await storeSignOfLife(transaction, alive);
    });
    if (webhooks > 0) this.onWebhooks();
  }

  /** Gives stored events other contents; those that were deleted are passed over. @throws as {@link write} */
  async rewrite(rewrites: readonly Rewrite[]): Promise<void> {
    const { db, isOurs } = this.#database;
    if (!isOurs) throw new DiskError('the database of the records is not ours for now');
    await db.transaction().execute(async (transaction) => {
      for (const rewrite of rewrites) await storeRewrite(transaction, rewrite);
    });
  }
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
  await transaction
    .updateTable('texts')
    .set({ text: isSpoken ? event.heardText : event.text })
    .where('call_seq', '=', (query) => query.selectFrom('calls').select('seq').where('id', '=', event.callId))
    .where('kind', '=', isSpoken ? 'spoken' : 'caption')
    .where('track', '=', isSpoken ? 'outbound' : event.track)
    .where('utterance', '=', String(event.utterance))
    .where('version', '=', event.type === 'revision' ? event.version : 1)
    .execute();
}

/** Of a call that is stored under another gateway with the same id, nothing is changed: its events are added to it. */
async function storeCalls(transaction: Transaction<Tables>, events: readonly RecordedEvent[]): Promise<Seqs> {
  const tallies = new Map(events.flatMap(({ tally }) => (tally === null ? [] : [[tally.id, tally] as const])));
  if (tallies.size === 0) return new Map();
  const stored = await transaction
    .insertInto('calls')
    .values([...tallies.values()].map((tally) => tally.row()))
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
          state: ref('excluded.state'),
          started_ms: ref('excluded.started_ms'),
          ended_ms: ref('excluded.ended_ms'),
          end_reason: ref('excluded.end_reason'),
          duration_ms: ref('excluded.duration_ms'),
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
    )
    .returning(['id', 'seq'])
    .execute();
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

async function storeEvents(transaction: Transaction<Tables>, events: readonly RecordedEvent[], seqs: Seqs) {
  const rows = events.flatMap(({ epoch, number, callId, type, atMs, content }) => {
    const call_seq = seqs.get(callId);
    return call_seq === undefined ? [] : [{ epoch, number, call_seq, type, at_ms: atMs, content }];
  });
  if (rows.length === 0) return;
  await transaction
    .insertInto('events')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['epoch', 'number']).doNothing())
    .execute();
}

async function storeTexts(transaction: Transaction<Tables>, events: readonly RecordedEvent[], seqs: Seqs) {
  // Of each utterance the latest version alone: PostgreSQL does not change a row twice in one statement.
  const rows = new Map<number, Insertable<TextsTable>>();
  for (const { callId, text } of events) {
    const call_seq = seqs.get(callId);
    if (call_seq === undefined || text === null) continue;
    const { number, ...rest } = text;
    const id = call_seq * TEXTS_PER_CALL + number;
    if (text.version >= (rows.get(id)?.version ?? 0)) rows.set(id, { id, call_seq, ...rest });
  }
  if (rows.size === 0) return;
  await transaction
    .insertInto('texts')
    .values([...rows.values()])
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(({ ref }) => ({ text: ref('excluded.text'), version: ref('excluded.version') }))
        .whereRef('excluded.version', '>', 'texts.version'),
    )
    .execute();
}

async function storeUpdates(transaction: Transaction<Tables>, events: readonly RecordedEvent[], seqs: Seqs) {
  for (const { callId, update } of events) {
    const call_seq = seqs.get(callId);
    if (update === null || call_seq === undefined) continue;
    await transaction.updateTable('calls').set({ outcome: update.outcome }).where('seq', '=', call_seq).execute();
    await transaction.deleteFrom('call_tags').where('call_seq', '=', call_seq).execute();
    const tags = [...new Set(update.tags)].map((tag) => ({ call_seq, tag }));
    if (tags.length > 0) await transaction.insertInto('call_tags').values(tags).execute();
  }
}

async function storeSignOfLife(transaction: Transaction<Tables>, { epoch, atMs }: SignOfLife): Promise<void> {
  await transaction
    .insertInto('meta')
    .values({ name: aliveName(epoch), value: String(atMs) })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: String(atMs) }))
    .execute();
}
