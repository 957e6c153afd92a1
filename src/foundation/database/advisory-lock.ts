/**
 * A lock that one process at a time holds on a PostgreSQL database, or several that share it. The server gives it up
 * with its connection, in whatever way that ends.
 * https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
 */
import type pg from 'pg';
import { Backoff } from '../backoff.ts';
import type { Clock, Timer } from '../clock.ts';
import { createClient } from './postgres.ts';

const RETRIES = { firstMs: 500, longestMs: 15_000 };

interface LockOptions {
  readonly url: string;
  readonly key: number;
  /** Others may hold it shared at the same time; nobody can hold it alone then. */
  readonly isShared?: boolean;
  readonly clock: Clock;
  /** The connection broke, and with it the lock is gone; or it is held again. */
  readonly onChange: (isHeld: boolean) => void;
}

/** Held until it is released. When its connection breaks, it is taken again as soon as that is possible. */
export class AdvisoryLock {
  readonly #options: LockOptions;
  readonly #backoff = new Backoff(RETRIES);
  #client: pg.Client | null = null;
  #timer: Timer | null = null;
  #isReleased = false;
  #trouble: unknown = null;

  constructor(options: LockOptions) {
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#client !== null;
  }

  /** Why it could not be taken again; null = it was not tried, another process holds it, or it is held. */
  get trouble(): unknown {
    return this.#trouble;
  }

  /** False when another process holds it. @throws the error of the connection */
  async take(): Promise<boolean> {
    const { url, key, isShared = false } = this.#options;
    const client = createClient(url);
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    try {
      await client.connect();
      const take = isShared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
      const { rows } = await client.query(`SELECT ${take}($1) AS taken`, [key]);
      if ((rows as readonly { taken: boolean }[])[0]?.taken === true && !this.#isReleased) {
        this.#client = client;
        this.#backoff.restart();
        return true;
      }
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    await client.end();
    return false;
  }

  /** Idempotent. */
  async release(): Promise<void> {
    this.#isReleased = true;
    this.#timer?.cancel();
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => undefined);
  }

  #lose(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#options.onChange(false);
    this.#takeLater();
  }

  #fail(error: unknown): false {
    this.#trouble = error;
    return false;
  }

  #takeLater(): void {
    if (this.#isReleased) return;
    this.#timer = this.#options.clock.after(
      this.#backoff.next(),
      () => {
        void this.take()
          .catch((error: unknown) => this.#fail(error))
          .then((isTaken) => {
            if (isTaken) this.#trouble = null;
            if (isTaken) this.#options.onChange(true);
            else this.#takeLater();
          });
      },
      true,
    );
  }
}
