import type { Kysely, Selectable, Transaction } from 'kysely';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Tables, UsersTable } from '../tables.ts';
import { markNoUsers, unmarkNoUsers } from './no-users-mark.ts';
import type { User } from './user.ts';
import { refuseLastAdmin, type UserChange, UserList, type Users } from './users.ts';

/** The users in the records' database. */
export class TableUsers implements Users {
  readonly source = 'table';
  readonly list = new UserList();
  readonly #db: Kysely<Tables>;
  readonly #folder: string | null;
  #isRead = false;
  /** The rows as they were read last. */
  #read = '';

  private constructor(db: Kysely<Tables>, folder: string | null) {
    this.#db = db;
    this.#folder = folder;
  }

  /**
   * `folder` = the DATA_DIR that the database lies in; null = it lies elsewhere.
   * @throws the database's error
   */
  static async open(db: Kysely<Tables>, folder: string | null): Promise<TableUsers> {
    const users = TableUsers.unread(db, folder);
    await users.load();
    return users;
  }

  /** As {@link open}, but nobody is known before {@link load}. */
  static unread(db: Kysely<Tables>, folder: string | null): TableUsers {
    return new TableUsers(db, folder);
  }

  /** Whether the users have been read. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Reads the users. @throws the database's error */
  async load(): Promise<void> {
    await this.reload();
    const folder = this.#folder;
    if (folder !== null) await (this.list.size === 0 ? markNoUsers(folder) : unmarkNoUsers(folder));
    this.#isRead = true;
  }

  /** Reads what another gateway on the same database may have changed. @throws the database's error */
  async reload(): Promise<void> {
    const rows = await this.#db.selectFrom('users').selectAll().orderBy('name').execute();
    const read = JSON.stringify(rows);
    if (read === this.#read) return;
    this.#read = read;
    this.list.replace(rows.map(toUser));
  }

  async add(user: User): Promise<void> {
    if (this.#folder !== null) await unmarkNoUsers(this.#folder);
    const { createdMs, ...values } = user;
    const inserted = await this.#db
      .insertInto('users')
      .values({ ...values, created_ms: createdMs })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst();
    if (Number(inserted.numInsertedOrUpdatedRows ?? 0) === 0)
      throw new TrunklineError('user_exists', 'there is a user of that name; change that one, or take another name');
    await this.reload();
  }

  async change(name: string, change: UserChange, keepsAdmin = false): Promise<User> {
    const user = this.list.get(name);
    await this.#write(keepsAdmin, (db) => db.updateTable('users').set(change).where('name', '=', user.name).execute());
    await this.reload();
    return this.list.get(name);
  }

  async remove(name: string, keepsAdmin = false): Promise<void> {
    const user = this.list.get(name);
    await this.#write(keepsAdmin, (db) => db.deleteFrom('users').where('name', '=', user.name).execute());
    await this.reload();
  }

  /** Another gateway that would take an admin away waits, and sees then who is left. */
  async #write(keepsAdmin: boolean, write: (db: Transaction<Tables>) => Promise<unknown>): Promise<void> {
    await this.#db.transaction().execute(async (transaction) => {
      const before = keepsAdmin ? await lockAdmins(transaction) : 0;
      await write(transaction);
      if (before > 0 && (await lockAdmins(transaction)) === 0) refuseLastAdmin();
    });
  }

  close(): void {
    // The database is not ours.
  }
}

function toUser({ created_ms, ...row }: Selectable<UsersTable>): User {
  return { ...row, createdMs: created_ms };
}

/** How many there are. None of their rows is changed by others before the transaction ends. */
async function lockAdmins(transaction: Transaction<Tables>): Promise<number> {
  const query = transaction.updateTable('users').set(({ ref }) => ({ role: ref('role') }));
  const { numUpdatedRows } = await query.where('role', '=', 'admin').executeTakeFirst();
  return Number(numUpdatedRows);
}
