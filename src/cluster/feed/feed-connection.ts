/** A connection to the database that is made again whenever it breaks. */
import type pg from 'pg';
import { Backoff } from '../../foundation/backoff.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { patiently } from '../../foundation/database/patience.ts';
import { createClient } from '../../foundation/database/postgres.ts';

const RETRIES = { firstMs: 100, longestMs: 5000, jitterShare: 0.5 };

interface ConnectionOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Makes a new connection ready. What it throws ends the connection. */
  readonly setUp: (client: pg.Client) => Promise<void>;
  readonly onUp: () => void;
  /** It broke, or could not be made; it is tried again. */
  readonly onDown: (error: Error) => void;
}

export class FeedConnection {
  readonly #options: ConnectionOptions;
  readonly #backoff = new Backoff(RETRIES);
  #client: pg.Client | null = null;
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Null = there is none just now. */
  get client(): pg.Client | null {
    return this.#client;
  }

  /** Waits a while for a database that is away. @throws the error of the database; nothing is tried again then */
  async open(): Promise<void> {
    await patiently(this.#options.clock, () => this.#connect());
  }

  /** Ends a connection that does not work and makes another. */
  drop(client: pg.Client, error: Error): void {
    client.connection.stream.destroy();
    if (this.#client !== client) return;
    this.#client = null;
    this.#options.onDown(error);
    this.#connectLater();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    const client = this.#client;
    this.#client = null;
    client?.connection.stream.destroy();
  }

  async #connect(): Promise<void> {
    const client = createClient(this.#options.url);
    client.on('error', (error) => this.drop(client, error));
    client.on('end', () => this.drop(client, new Error('the connection ended')));
    try {
      await client.connect();
      await this.#options.setUp(client);
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
    if (this.#isClosed) return void client.connection.stream.destroy();
    this.#client = client;
    this.#backoff.restart();
    this.#options.onUp();
  }

  #connectLater(): void {
    if (this.#isClosed) return;
    this.#timer?.cancel();
    const retry = (): void => {
      this.#connect().catch((error: Error) => {
        if (this.#isClosed) return;
        this.#options.onDown(error);
        this.#connectLater();
      });
    };
    this.#timer = this.#options.clock.after(this.#backoff.next(), retry, true);
  }
}
