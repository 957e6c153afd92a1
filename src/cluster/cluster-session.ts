/** The connection on which a gateway says that it lives, and that holds the locks of what it leads. */
import type pg from 'pg';
import { createClient } from '../foundation/database/postgres.ts';
import { DatabaseAway } from '../foundation/database/trouble.ts';

/** While a gateway starts it may be starved: an answer that is there is read late. */
const STARTING_LIMIT_MS = 10_000;
/** Shorter than a heartbeat's period and the limit after it: one that is lost must not cost the next. */
const LIMIT_MS = 2000;
/** For a database that is far away. */
const LONGEST_LIMIT_MS = 5000;
/** A connection is made in some six round trips, and each may be repeated once. */
const ROUND_TRIPS = 12;

/**
 * The server gives up a connection whose machine is gone, and its locks with it, after some 6 s.
 * https://www.postgresql.org/docs/current/runtime-config-connection.html#RUNTIME-CONFIG-TCP-SETTINGS
 */
const KEEPALIVES = `
  SET tcp_keepalives_idle = 2;
  SET tcp_keepalives_interval = 2;
  SET tcp_keepalives_count = 2;
  SET tcp_user_timeout = 6000
`;

/** The client's own types do not have the limit. */
interface LimitedQuery extends pg.QueryConfig {
  readonly query_timeout: number;
}

/** One connection, made when it is needed and again when it broke. One query at a time. */
export class ClusterSession {
  readonly #url: string;
  readonly #onBroken: () => void;
  #client: pg.Client | null = null;
  #limitMs = STARTING_LIMIT_MS;
  #isInTransaction = false;
  #isClosed = false;

  /** `onBroken` is called when a connection and its locks are gone. It is patient until {@link hasten}. */
  constructor(url: string, onBroken: () => void) {
    this.#url = url;
    this.#onBroken = onBroken;
  }

  /** From now on a server that does not answer soon is taken for gone; `roundTripMs` = how far away it is. */
  hasten(roundTripMs: number): void {
    this.#limitMs = Math.min(Math.max(LIMIT_MS, ROUND_TRIPS * roundTripMs), LONGEST_LIMIT_MS);
  }

  /**
   * The rows of one statement. After an error the next one has a new connection.
   * @throws DatabaseAway when it is closed; the error of the database
   */
  async query<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const client = this.#client ?? (await this.#connect());
    try {
      const asked: LimitedQuery = { text, values: [...values], query_timeout: this.#limitMs };
      const { rows } = await client.query(asked);
      return rows as readonly Row[];
    } catch (error) {
      this.#drop(client);
      throw error;
    }
  }

  /**
   * What `work` returns, done as one transaction on this connection.
   * @throws DatabaseAway when it is closed; the error of the database or of `work`, of which nothing is kept then
   */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.query('BEGIN');
    this.#isInTransaction = true;
    try {
      const result = await work();
      await this.query('COMMIT');
      return result;
    } catch (error) {
      // Its connection ends it.
      if (this.#client !== null) this.#drop(this.#client);
      throw error;
    } finally {
      this.#isInTransaction = false;
    }
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    if (this.#client !== null) this.#drop(this.#client);
  }

  async #connect(): Promise<pg.Client> {
    if (this.#isClosed) throw new DatabaseAway('the connection of the cluster is closed');
    if (this.#isInTransaction) throw new DatabaseAway('the connection of the cluster broke');
    const client = createClient(this.#url, this.#limitMs);
    client.on('error', () => this.#drop(client));
    client.on('end', () => this.#drop(client));
    try {
      await client.connect();
      await client.query(KEEPALIVES);
    } catch (error) {
      destroy(client);
      throw error;
    }
    if (this.#isClosed) {
      destroy(client);
      throw new DatabaseAway('the connection of the cluster is closed');
    }
    this.#client = client;
    return client;
  }

  #drop(client: pg.Client): void {
    destroy(client);
    if (this.#client !== client) return;
    this.#client = null;
    this.#onBroken();
  }
}

/** A connection that answers nothing would not end by itself. */
function destroy(client: pg.Client): void {
  client.connection.stream.destroy();
}
