/** Writes the events of this gateway to the table of the feed, in batches, as soon as the last one is committed. */
import type pg from 'pg';
import { lateJson } from '../../calls/feed/exchange.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { isDatabaseTrouble } from '../../foundation/database/trouble.ts';
import type { Return } from '../cluster.ts';
import { FeedConnection } from './feed-connection.ts';
import { appendRows, DECLARED_DEAD, forgetRows } from './feed-rows.ts';
import type { OwnRow } from './own-row.ts';

/** Batches begin this far apart: where little happens they would else be of one event each. */
const FLOOR_MS = 5;
const ROWS_AT_ONCE = 500;
const BYTES_AT_ONCE = 1_000_000;

interface PublisherOptions {
  /** A connection of our own: not one of a pooler that hands them around. */
  readonly url: string;
  readonly gateway: string;
  readonly clock: Clock;
  /** The rows have their numbers. */
  readonly onAppended: (rows: readonly OwnRow[]) => void;
  /** The database will never take this one. */
  readonly onRefused: (row: OwnRow, error: Error) => void;
  /** Whether it can be written has changed. */
  readonly onChange: (error: Error | null) => void;
  /** The other gateways have ended this one's calls; nothing is written before it is back. */
  readonly onDeclaredDead: () => void;
}

export class FeedPublisher {
  readonly #options: PublisherOptions;
  readonly #connection: FeedConnection;
  /** Those from `#next` on wait. */
  #waiting: OwnRow[] = [];
  #next = 0;
  /** What is being written, or was when it failed. */
  #batch: readonly OwnRow[] = [];
  readonly #forgotten: string[] = [];
  #isWriting = false;
  #isTroubled = false;
  #isStopped = false;
  /** Nothing is written: this gateway's term is over. */
  #isHeld = false;
  #term = 1;
  #lastMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | null = null;
  #appended = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#connection = new FeedConnection({
      url: options.url,
      clock: options.clock,
      // What a crash takes from the table is in the records, or was not promised to anybody.
      setUp: async (client) => void (await client.query('SET synchronous_commit = off')),
      onUp: () => this.#noteUp(),
      onDown: (error) => this.#noteDown(error),
    });
  }

  /** Events that are not in the table yet. */
  get backlog(): number {
    return this.#waiting.length - this.#next + this.#batch.length;
  }

  /** How many events were written. */
  get appended(): number {
    return this.#appended;
  }

  /** Writes fail, or there is no connection. */
  get isTroubled(): boolean {
    return this.#isTroubled;
  }

  /** The number of the server's process that writes for us: its notifications are ours. */
  get processId(): number | null {
    return (this.#connection.client as { processID?: number } | null)?.processID ?? null;
  }

  /** @throws the error of the database */
  open(): Promise<void> {
    return this.#connection.open();
  }

  /** Takes an event. */
  append(row: OwnRow): void {
    if (this.#isStopped) return;
    this.#waiting.push(row);
    this.#schedule();
  }

  /** Has the rows of a call deleted. */
  forget(callId: string): void {
    if (this.#isStopped) return;
    this.#forgotten.push(callId);
    this.#schedule();
  }

  /** Leaves out what waits and `isUseless`. Returns how many there were. */
  discard(isUseless: (row: OwnRow) => boolean): number {
    const waiting = this.#waiting.slice(this.#next);
    this.#waiting = waiting.filter((row) => !isUseless(row));
    this.#next = 0;
    return waiting.length - this.#waiting.length;
  }

  /**
   * Goes on with another term, after this gateway was declared dead. What waits is late where it gets a number above
   * `feedNumber`.
   */
  resume({ term, feedNumber }: Pick<Return, 'term' | 'feedNumber'>): void {
    this.#term = term;
    this.#isHeld = false;
    for (const row of [...this.#batch, ...this.#waiting.slice(this.#next)]) {
      if (row.entry.event.type === 'call.resumed') continue;
      if (row.lateAfter === null) row.content = lateJson(row.content);
      row.lateAfter = feedNumber;
    }
    this.#schedule();
  }

  /** Nothing is written any more. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#connection.close();
  }

  #schedule(): void {
    const mayWrite = !this.#isWriting && !this.#isStopped && !this.#isHeld;
    if (this.#timer !== null || !mayWrite || this.#connection.client === null) return;
    if (this.backlog === 0 && this.#forgotten.length === 0) return;
    const { clock } = this.#options;
    const dueMs = Math.max(this.#lastMs + FLOOR_MS - clock.nowMs(), 0);
    this.#timer = clock.after(dueMs, () => {
      this.#timer = null;
      void this.#write();
    });
  }

  async #write(): Promise<void> {
    const { client } = this.#connection;
    if (client === null || this.#isStopped || this.#isHeld) return;
    this.#isWriting = true;
    this.#lastMs = this.#options.clock.nowMs();
    const term = this.#term;
    try {
      if (this.#batch.length === 0) this.#batch = this.#gather();
      const batch = this.#batch;
      if (batch.length > 0) await this.#append(client, batch);
      this.#batch = [];
      await this.#forget(client);
      this.#setTroubled(null);
    } catch (error) {
      this.#fail(client, error as Error, term);
    } finally {
      this.#isWriting = false;
    }
    this.#schedule();
  }

  async #forget(client: pg.Client): Promise<void> {
    for (;;) {
      const [callId] = this.#forgotten;
      if (callId === undefined) return;
      await forgetRows(client, callId);
      this.#forgotten.shift();
    }
  }

  #gather(): readonly OwnRow[] {
    let bytes = 0;
    let end = this.#next;
    for (; end < this.#waiting.length && end - this.#next < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE; end++)
      bytes += this.#waiting[end]?.content.length ?? 0;
    const rows = this.#waiting.slice(this.#next, end);
    this.#next = end;
    if (this.#next >= ROWS_AT_ONCE || this.#next === this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    return rows;
  }

  /** What the database refuses is left out, so that it does not hold up the rest for ever. */
  async #append(client: pg.Client, rows: readonly OwnRow[]): Promise<void> {
    const { gateway, onAppended, onRefused } = this.#options;
    try {
      const numbers = await appendRows(client, { gateway, term: this.#term }, rows);
      if (this.#isStopped) return;
      for (const row of rows) row.number = numbers.get(row.localNumber) ?? null;
      this.#appended += rows.length;
      onAppended(rows);
    } catch (error) {
      const [row] = rows;
      if (row === undefined || isDatabaseTrouble(error) || isDeclaredDead(error)) throw error;
      if (rows.length === 1) return onRefused(row, error as Error);
      const half = Math.ceil(rows.length / 2);
      await this.#append(client, rows.slice(0, half));
      await this.#append(client, rows.slice(half));
    }
  }

  /** `term` = in which it began to write. */
  #fail(client: pg.Client, error: Error, term: number): void {
    if (this.#isStopped) return;
    if (!isDeclaredDead(error)) {
      this.#connection.drop(client, error);
      return;
    }
    // What was sent before this gateway came back is sent again.
    if (term !== this.#term) return;
    this.#isHeld = true;
    this.#setTroubled(error);
    this.#options.onDeclaredDead();
  }

  #noteUp(): void {
    if (this.backlog === 0) this.#setTroubled(null);
    this.#schedule();
  }

  #noteDown(error: Error): void {
    if (!this.#isStopped) this.#setTroubled(error);
  }

  #setTroubled(error: Error | null): void {
    if (this.#isTroubled === (error !== null)) return;
    this.#isTroubled = error !== null;
    this.#options.onChange(error);
  }
}

function isDeclaredDead(error: unknown): boolean {
  return (error as { code?: string }).code === DECLARED_DEAD;
}
