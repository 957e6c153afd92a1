import type { Passwords } from './passwords.ts';
import type { StoredSession } from './stored-sessions.ts';
import type { Users } from './users.ts';

/** Where the sessions of browsers outlast the process. */
export interface SessionStore {
  /** The key of their hashes, always the same. */
  secret(): Promise<Buffer>;
  /** Those that have not expired by `nowMs` (since 1970). */
  load(nowMs: number): Promise<StoredSession[]>;
  add(session: StoredSession): Promise<void>;
  remove(hashes: readonly string[]): Promise<void>;
}

/** What a server needs to know people. */
export interface People {
  /** Null = there is no place for users. */
  readonly users: Users | null;
  /** There may be users, but they cannot be read: nobody can be known without a key. */
  readonly areUnreadable: boolean;
  readonly passwords: Pick<Passwords, 'verify' | 'hash'>;
  /** Null = sessions end with the process. */
  readonly sessions: SessionStore | null;
  /** Reads users that another gateway may have changed. @throws the database's error */
  refresh(): Promise<void>;
  close(): void;
}
