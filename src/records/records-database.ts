/** The database of the records, as the parts that use it see it. */
import type { CompiledQuery, Kysely } from 'kysely';
import type { DatabaseKind } from './database-kind.ts';
import type { Tables } from './tables.ts';

/** An open database whose schema is that of this program. */
export interface RecordsDatabase {
  readonly kind: DatabaseKind;
  /** Where it is, for people: a file, or a server and database without its user. */
  readonly place: string;
  /** For writes and transactions. */
  readonly db: Kysely<Tables>;
  /**
   * For reads, without transactions. In SQLite a waiting write goes before any waiting read, and each statement has
   * the thread to itself: it must take at most 20 ms, so longer work is done in slices.
   */
  readonly reader: Kysely<Tables>;
  /**
   * Runs queries of {@link db} in one transaction, which SQLite gets in one message.
   * @throws the error of the database
   */
  runAtomically(queries: readonly CompiledQuery[]): Promise<void>;
  /**
   * Whether it is still the one that was opened, with the rights that are needed; little work.
   * @throws DatabaseAway; the error of the database
   */
  check(): Promise<void>;
  /** False for as long as a database that could not be opened at the start is not: it rejects all with DiskError. */
  readonly isOpen: boolean;
  /** Resolves when {@link isOpen} is true; never, when it is closed before. */
  readonly opened: Promise<void>;
  /** @throws DatabaseAway while it may be another process's: nothing may be written then */
  requireOurs(): void;
  /** Bytes that it takes on disk. @throws the error of the database */
  sizeBytes(): Promise<number>;
  /**
   * Writes a copy to the new file `path`, while writes go on. Null = this kind of database is backed up with its own
   * tools.
   */
  readonly backUp: ((path: string) => Promise<void>) | null;
  /** Closes it when all queries are done. Idempotent. */
  close(): Promise<void>;
  /**
   * Closes it without waiting for queries. Resolves when its thread has ended, which one that waits for a stuck disk
   * never does.
   */
  abandon(): Promise<void>;
}
