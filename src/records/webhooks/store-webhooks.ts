import type { Transaction } from 'kysely';
import type { Tables } from '../tables.ts';

/** A stored event. */
interface WebhookEvent {
  readonly epoch: string;
  readonly number: number;
  readonly callId: string;
  readonly type: string;
  readonly atMs: number;
  /** Where a flow sends it (message-targets.ts); null = nowhere. */
  readonly target: string | null;
}

/** What a caller says last in a message takes so long to be recognised and put right. */
const MESSAGE_DUE_MS = 5000;
/** Events may go to CALL_WEBHOOK_URL as well, under their own ids. */
const MESSAGE_PREFIX = 'msg_';

/** The id in the feed of the event that a webhook tells of. */
export function eventOfWebhook(id: string): string {
  return id.startsWith(MESSAGE_PREFIX) ? id.slice(MESSAGE_PREFIX.length) : id;
}

/**
 * Puts the events of `types`, and those with a target, into the outbox, in the transaction that stores them; `seqs` =
 * the numbers of their calls. Returns how many there were. One that is in it already stays as it is.
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
  const rows = events.flatMap(({ epoch, number, callId, type, atMs, target }) => {
    const call_seq = seqs.get(callId);
    if (call_seq === undefined) return [];
    const id = `${epoch}-${number}`;
    const row = { call_seq, event: type, body: '', created_ms: atMs, attempts: 0, state: 'waiting' as const };
    return [
      ...(types.has(type) ? [{ id, due_ms: atMs, target: null, ...row }] : []),
      ...(target === null ? [] : [{ id: `${MESSAGE_PREFIX}${id}`, due_ms: atMs + MESSAGE_DUE_MS, target, ...row }]),
    ];
  });
  if (rows.length === 0) return 0;
  await transaction
    .insertInto('outbox')
    .values(rows)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  return rows.length;
}
