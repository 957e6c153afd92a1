/**
 * Delivers the webhooks in the outbox, each at least once and in no promised order. What waits survives the end of the
 * program; a receiver that is away for days loses them, and that is told.
 */
import type { Selectable } from 'kysely';
import { Backoff } from '../../foundation/backoff.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { explainTrouble } from '../../foundation/database/trouble.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { WebhookMetrics } from '../../foundation/metrics/webhook-metrics.ts';
import { type AfterAttempt, attemptOutcome } from '../../foundation/webhooks/retry-plan.ts';
import type { WebhookSender } from '../../foundation/webhooks/webhook-sender.ts';
import type { RecordsDatabase } from '../records-database.ts';
import type { OutboxTable } from '../tables.ts';
import { readTarget } from './message-targets.ts';
import type { WebhookBodies } from './webhook-bodies.ts';

/** Attempts at the same time. */
const AT_ONCE_MAX = 4;
/** An attempt takes 10 s at most. A gateway that dies in one leaves it to be made again after this. */
const CLAIM_MS = 60_000;
/** What was given up stays in the table for so long. */
const FAILED_KEPT_MS = 30 * 86_400_000;
/** The outbox is looked at after this long at the latest. */
const LOOK_MAX_MS = 60_000;
const COLUMNS = ['id', 'event', 'attempts', 'created_ms', 'due_ms', 'target'] as const;

type Row = Pick<Selectable<OutboxTable>, (typeof COLUMNS)[number]>;

interface OutboxOptions {
  readonly database: RecordsDatabase;
  readonly bodies: Pick<WebhookBodies, 'make' | 'makeMessage'>;
  /** Of calls; null = they are not sent, and those that wait go on waiting. */
  readonly calls: { readonly sender: WebhookSender; readonly url: string } | null;
  /** Of messages, which say themselves where they go. */
  readonly messages: WebhookSender;
  readonly clock: Clock;
  /** Now, in ms since 1970, by a clock that all gateways which share the outbox have; absent = that of this one. */
  readonly readNowMs?: () => Promise<number>;
  readonly log: Log;
  readonly metrics: WebhookMetrics;
}

/** The outbox of one gateway. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #end = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #troubles = new Backoff({ firstMs: 1000, longestMs: LOOK_MAX_MS });
  #timer: Timer | null = null;
  #isLooking = false;
  #isLookAsked = false;
  /** The last attempts failed, and that was told. */
  #isFailing = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Begins with what waits from earlier. */
  open(): void {
    void this.#options.database.opened.then(() => this.wake());
  }

  /** There may be something to deliver. */
  wake(): void {
    if (this.#end.signal.aborted) return;
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#isLooking) this.#isLookAsked = true;
    else void this.#look();
  }

  /** Aborts what is being sent: it will be sent again. */
  async close(): Promise<void> {
    this.#end.abort();
    this.#timer?.cancel();
    await Promise.all(this.#sending);
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    this.#isLookAsked = false;
    try {
      const nowMs = await this.#readNowMs();
      await this.#startDue(nowMs);
      this.#troubles.restart();
      this.#schedule(await this.#untilNextMs(nowMs));
    } catch (error) {
      this.#options.log.warn({ reason: explainTrouble(error as Error) }, 'the outbox of webhooks cannot be read');
      this.#schedule(this.#troubles.next());
    } finally {
      this.#isLooking = false;
    }
    if (this.#isLookAsked) this.wake();
  }

  #schedule(delayMs: number): void {
    if (this.#end.signal.aborted) return;
    this.#timer = this.#options.clock.after(delayMs, () => this.wake(), true);
  }

  async #startDue(nowMs: number): Promise<void> {
    const free = AT_ONCE_MAX - this.#sending.size;
    if (free <= 0) return;
    const { database } = this.#options;
    const due = await this.#waiting(database.reader)
      .select(COLUMNS)
      .where('due_ms', '<=', nowMs)
      .orderBy('due_ms')
      .limit(free)
      .execute();
    for (const row of due) {
      if (this.#end.signal.aborted || !(await this.#claim(row, nowMs))) continue;
      const sending = this.#send(row, nowMs).finally(() => {
        this.#sending.delete(sending);
        this.wake();
      });
      this.#sending.add(sending);
    }
  }

  /** Only one gateway sends it at a time. */
  async #claim({ id, due_ms }: Row, nowMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#options.database.db
      .updateTable('outbox')
      .set({ due_ms: nowMs + CLAIM_MS })
      .where('id', '=', id)
      .where('due_ms', '=', due_ms)
      .where('state', '=', 'waiting')
      .executeTakeFirst();
    return Number(numUpdatedRows) === 1;
  }

  async #send(row: Row, nowMs: number): Promise<void> {
    const { id, attempts, created_ms } = row;
    const { signal } = this.#end;
    try {
      const { sender, url, body } = await this.#addressed(row);
      if (body === null) return await this.#remove(id);
      const after = await sender.attempt({ url, id, body, attempts, ageMs: nowMs - created_ms }, signal);
      if (after === null) return;
      this.#options.metrics.attempts.inc({ outcome: attemptOutcome(after.state) });
      if (after.state === 'delivered') await this.#noteDelivered(id);
      else await this.#noteFailure(row, after);
    } catch (error) {
      this.#options.log.warn({ reason: explainTrouble(error as Error) }, 'the outbox of webhooks cannot be written');
    }
  }

  async #addressed({ id, target }: Row) {
    const { bodies, calls, messages } = this.#options;
    if (target !== null) {
      const { url, hasText } = readTarget(target);
      return { sender: messages, url, body: await bodies.makeMessage(id, { hasText }) };
    }
    if (calls === null) throw new Error('expected no webhook of a call: CALL_WEBHOOK_URL is not set');
    return { ...calls, body: await bodies.make(id) };
  }

  async #noteDelivered(id: string): Promise<void> {
    await this.#remove(id);
    if (this.#isFailing) this.#options.log.info('webhooks are delivered again');
    this.#isFailing = false;
  }

  async #noteFailure({ id, event }: Row, { state, attempts, againInMs, answer }: AfterAttempt): Promise<void> {
    const { database, log } = this.#options;
    const nowMs = await this.#readNowMs();
    const row = database.db.updateTable('outbox').where('id', '=', id);
    await row
      .set({ attempts, due_ms: nowMs + (againInMs ?? 0), state: state === 'failed' ? state : 'waiting' })
      .execute();
    if (state === 'failed') {
      log.error({ webhook: id, event, attempts, answer }, 'a webhook of a call was given up');
      await this.#removeOldFailures(nowMs - FAILED_KEPT_MS);
    } else if (!this.#isFailing) {
      this.#isFailing = true;
      log.warn({ webhook: id, event, answer }, 'a webhook of a call was not taken; it is sent again for three days');
    }
  }

  async #remove(id: string): Promise<void> {
    await this.#options.database.db.deleteFrom('outbox').where('id', '=', id).execute();
  }

  async #removeOldFailures(beforeMs: number): Promise<void> {
    const failed = this.#options.database.db.deleteFrom('outbox').where('state', '=', 'failed');
    await failed.where('created_ms', '<', beforeMs).execute();
  }

  /** Until the next one is due. While all places are taken, the end of an attempt wakes us. */
  async #untilNextMs(nowMs: number): Promise<number> {
    const { database, metrics } = this.#options;
    const { next_ms, waiting } = await this.#waiting(database.reader)
      .select(({ fn }) => [fn.min('due_ms').as('next_ms'), fn.countAll<number>().as('waiting')])
      .executeTakeFirstOrThrow();
    metrics.waiting.set(Number(waiting));
    if (this.#sending.size >= AT_ONCE_MAX || next_ms === null) return LOOK_MAX_MS;
    return Math.min(Math.max(next_ms - nowMs, 0), LOOK_MAX_MS);
  }

  /** Those that wait and can be sent. */
  #waiting(reader: RecordsDatabase['reader']) {
    const waiting = reader.selectFrom('outbox').where('state', '=', 'waiting');
    return this.#options.calls === null ? waiting.where('target', 'is not', null) : waiting;
  }

  async #readNowMs(): Promise<number> {
    const { readNowMs, clock } = this.#options;
    return readNowMs === undefined ? clock.wall().getTime() : readNowMs();
  }
}
