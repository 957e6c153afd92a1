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
import type { PrivateTargets } from '../../foundation/outbound-targets.ts';
import { sendWebhook, type WebhookOutcome } from '../../foundation/webhooks/send-webhook.ts';
import type { RecordsDatabase } from '../records-database.ts';
import type { OutboxTable } from '../tables.ts';
import { readTarget } from './message-targets.ts';
import type { WebhookBodies } from './webhook-bodies.ts';

/** Attempts at the same time. */
const AT_ONCE_MAX = 4;
/** An attempt takes 10 s at most. A gateway that dies in one leaves it to be made again after this. */
const CLAIM_MS = 60_000;
const RETRIES = { firstMs: 5000, longestMs: 3_600_000, factor: 4, jitterShare: 0.2 };
/** A receiver may ask for this much patience at most. */
const RETRY_AFTER_MAX_MS = 86_400_000;
const GIVEN_UP_MS = 3 * 86_400_000;
/** What was given up stays in the table for so long. */
const FAILED_KEPT_MS = 30 * 86_400_000;
/** The outbox is looked at after this long at the latest. */
const LOOK_MAX_MS = 60_000;
/** The receiver says that nobody wants it (RFC 9110 §15.5.11). */
const GONE = '410';

const COLUMNS = ['id', 'event', 'attempts', 'created_ms', 'due_ms', 'target'] as const;

type Row = Pick<Selectable<OutboxTable>, (typeof COLUMNS)[number]>;

/** How webhooks of a kind are sent. */
interface Sender {
  readonly secret: string;
  readonly allowPrivate: PrivateTargets;
}

interface OutboxOptions {
  readonly database: RecordsDatabase;
  readonly bodies: Pick<WebhookBodies, 'make' | 'makeMessage'>;
  /** Of calls; null = they are not sent, and those that wait go on waiting. */
  readonly calls: (Sender & { readonly url: string }) | null;
  /** Of messages, which say themselves where they go. */
  readonly messages: Sender;
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
      const sending = this.#send(row).finally(() => {
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

  async #send(row: Row): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#end;
    try {
      const { body, ...sender } = await this.#addressed(row);
      if (body === null) return await this.#remove(row.id);
      const outcome = await sendWebhook({ ...sender, id: row.id, body, clock, signal });
      if (signal.aborted && !outcome.isDelivered) return;
      if (outcome.isDelivered) await this.#noteDelivered(row.id);
      else await this.#noteFailure(row, outcome);
    } catch (error) {
      log.warn({ reason: explainTrouble(error as Error) }, 'the outbox of webhooks cannot be written');
    }
  }

  async #addressed({ id, target }: Row): Promise<Sender & { readonly url: string; readonly body: string | null }> {
    const { bodies, calls, messages } = this.#options;
    if (target !== null) {
      const { url, hasText } = readTarget(target);
      return { ...messages, url, body: await bodies.makeMessage(id, { hasText }) };
    }
    if (calls === null) throw new Error('expected no webhook of a call: CALL_WEBHOOK_URL is not set');
    return { ...calls, body: await bodies.make(id) };
  }

  async #noteDelivered(id: string): Promise<void> {
    const { log, metrics } = this.#options;
    await this.#remove(id);
    metrics.attempts.inc({ outcome: 'delivered' });
    if (this.#isFailing) log.info('webhooks are delivered again');
    this.#isFailing = false;
  }

  async #noteFailure(
    { id, event, attempts, created_ms }: Row,
    { answer, retryAfterMs }: WebhookOutcome,
  ): Promise<void> {
    const { database, log, metrics } = this.#options;
    const made = attempts + 1;
    const nowMs = await this.#readNowMs();
    const dueMs = nowMs + Math.max(delayAfter(made), Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
    const isGivenUp = answer === GONE || dueMs > created_ms + GIVEN_UP_MS;
    await database.db
      .updateTable('outbox')
      .set({ attempts: made, due_ms: dueMs, state: isGivenUp ? 'failed' : 'waiting' })
      .where('id', '=', id)
      .execute();
    metrics.attempts.inc({ outcome: isGivenUp ? 'failed' : 'retried' });
    if (isGivenUp) {
      log.error({ webhook: id, event, attempts: made, answer }, 'a webhook of a call was given up');
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

/** 5 s, 20 s, 80 s … 1 h, each up to a fifth shorter. */
function delayAfter(attempts: number, random: () => number = Math.random): number {
  const { firstMs, longestMs, factor, jitterShare } = RETRIES;
  return Math.round(Math.min(firstMs * factor ** (attempts - 1), longestMs) * (1 - jitterShare * random()));
}
