/** Reads what all gateways publish from the table of the feed, in its order. */
import type pg from 'pg';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { ConfigError } from '../../foundation/settings/config.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import { FeedConnection } from './feed-connection.ts';
import { FEED_CHANNEL, type FeedRow, readRows, trimRows } from './feed-rows.ts';

/** A notification only wakes. One that is lost costs this much time. */
const POLL_MS = 1000;
/** What is read at once is in memory at once, as text and as events. */
const ROWS_AT_ONCE = 1000;
const BYTES_AT_ONCE = 2_000_000;
/** How long a notification to ourselves may take at the start, of a machine that may be starved. */
const PROBE_MS = 15_000;

interface ListenerOptions {
  readonly url: string;
  readonly gateway: string;
  readonly clock: Clock;
  /** The number that was read last. */
  readonly cursor: () => number;
  /** The server's process whose notifications tell nothing new. */
  readonly ownProcess: () => number | null;
  /** There is a connection, the first or another one. */
  readonly onUp: () => void;
  /** Called before a read. */
  readonly onBegin: () => void;
  /** What was read; `isLast` = there was no more when the read began. */
  readonly onRows: (rows: readonly FeedRow[], isLast: boolean) => void;
  readonly onChange: (error: Error | null) => void;
}

export class FeedListener {
  readonly #options: ListenerOptions;
  readonly #connection: FeedConnection;
  #poll: Timer | null = null;
  /** Up to where rows are to be deleted; null = they are. */
  #trimTo: number | null = null;
  #isReading = false;
  #isAsked = false;
  #isTroubled = false;
  #isClosed = false;
  /** Called for a notification at the start. */
  #onProbe: () => void = () => undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#connection = new FeedConnection({
      url: options.url,
      clock: options.clock,
      setUp: async (client) => {
        client.on('notification', ({ processId }) => this.#note(processId));
        await client.query(`LISTEN ${FEED_CHANNEL}`);
        // For ourselves, to see whether notifications come.
        await client.query(`NOTIFY ${FEED_CHANNEL}`);
      },
      onUp: () => {
        options.onUp();
        this.wake();
      },
      onDown: (error) => this.#setTroubled(error),
    });
  }

  /** Reads fail, or there is no connection. */
  get isTroubled(): boolean {
    return this.#isTroubled;
  }

  /**
   * Connects and sees whether notifications come.
   * @throws ConfigError when they do not; the error of the database
   */
  async open(): Promise<void> {
    const { clock } = this.#options;
    const heard = new Promise<void>((resolve) => {
      this.#onProbe = resolve;
    });
    await this.#connection.open();
    if (!(await settlesWithin(clock, heard, PROBE_MS)))
      throw new ConfigError([
        'DATABASE_DIRECT_URL: notifications of the database do not come through. A connection pooler in transaction ' +
          'mode does that: set DATABASE_DIRECT_URL to the address of the database, or of a pooler in session mode',
      ]);
    this.#poll = clock.every(POLL_MS, () => this.wake(), true);
  }

  /** Reads what is new. */
  wake(): void {
    this.#isAsked = true;
    if (!this.#isReading) void this.#read();
  }

  /** Deletes all rows up to `number`. */
  trim(number: number): void {
    this.#trimTo = number;
    this.wake();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#poll?.cancel();
    await this.#connection.close();
  }

  #note(processId: number): void {
    this.#onProbe();
    if (processId !== this.#options.ownProcess()) this.wake();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    while (this.#isAsked && !this.#isClosed && this.#connection.client !== null) {
      this.#isAsked = false;
      await this.#readOnce(this.#connection.client);
    }
    this.#isReading = false;
  }

  async #readOnce(client: pg.Client): Promise<void> {
    const { gateway, cursor, onBegin, onRows } = this.#options;
    onBegin();
    try {
      const bounds = { rowsMax: ROWS_AT_ONCE, bytesMax: BYTES_AT_ONCE };
      const { rows, isLast } = await readRows(client, { gateway, after: cursor(), ...bounds });
      if (this.#isClosed) return;
      if (!isLast) this.#isAsked = true;
      onRows(rows, isLast);
      if (this.#trimTo !== null && isLast) await trimRows(client, this.#trimTo);
      if (isLast) this.#trimTo = null;
      this.#setTroubled(null);
    } catch (error) {
      this.#connection.drop(client, error as Error);
    }
  }

  #setTroubled(error: Error | null): void {
    if (this.#isClosed || this.#isTroubled === (error !== null)) return;
    this.#isTroubled = error !== null;
    this.#options.onChange(error);
  }
}
