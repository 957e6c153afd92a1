import type { Transaction } from 'kysely';
import type { Tables } from '../tables.ts';

/** A stored event. */
interface WebhookEvent {
  readonly epoch: string;
  readonly number: number;
  readonly callId: string;
  readonly type: string;
  readonly atMs: number;
}

/**
 * Puts the events of `types` into the outbox, in the transaction that stores them; `seqs` = the numbers of their calls.
 * Returns how many there were. One that is in it already stays as it is.
 */
export async function storeWebhooks(
  transaction: Transaction<Tables>,
  {
    events,
    seqs,
    types,
  }: {
    readonly events: readonly WebhookEvent[];
    readonly seqs: ReadonlyMap<string, number>;
    readonly types: ReadonlySet<string>;
  },
): Promise<number> {
  const rows = events.flatMap(({ epoch, number, callId, type, atMs }) => {
    const call_seq = seqs.get(callId);
    if (call_seq === undefined || !types.has(type)) return [];
    const id = `${epoch}-${number}`;
    const times = { created_ms: atMs, due_ms: atMs };
    return [{ id, call_seq, event: type, body: '', ...times, attempts: 0, state: 'waiting' as const }];
  });
  if (rows.length === 0) return 0;
  await transaction
    .insertInto('outbox')
    .values(rows)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  return rows.length;
}
