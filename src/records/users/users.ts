/** Where users are kept, and the list of them that every request looks into. */
import { TrunklineError } from '../../foundation/errors.ts';
import { hashKey } from './secrets.ts';
import type { User } from './user.ts';

/** What may be changed of a user. */
export type UserChange = Partial<Pick<User, 'role' | 'agent' | 'secret'>>;

/** The users of a server. Look-ups are in memory; changes are on disk when they resolve. */
export interface Users {
  /** `file`: the operator's; it changes there alone. */
  readonly source: 'table' | 'file';
  readonly list: UserList;
  /** @throws TrunklineError `user_exists`, or `users_in_file` */
  add(user: User): Promise<void>;
  /**
   * `keepsAdmin`: not if no admin were left, also where another gateway takes one away at the same time.
   * @throws TrunklineError `user_not_found`, `last_admin` or `users_in_file`
   */
  change(name: string, change: UserChange, keepsAdmin?: boolean): Promise<User>;
  /** `keepsAdmin` as in {@link change}. @throws TrunklineError `user_not_found`, `last_admin` or `users_in_file` */
  remove(name: string, keepsAdmin?: boolean): Promise<void>;
  close(): void;
}

/** The users as they are now. */
export class UserList {
  #byName = new Map<string, User>();
  #bySecret = new Map<string, User>();
  readonly #listeners = new Set<() => void>();

  /** In the order of their names. */
  get all(): readonly User[] {
    return [...this.#byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  get size(): number {
    return this.#byName.size;
  }

  /** `name` as somebody typed it. */
  find(name: string): User | undefined {
    return this.#byName.get(name.normalize('NFC').toLowerCase());
  }

  /** @throws TrunklineError `user_not_found` */
  get(name: string): User {
    const user = this.find(name);
    if (user !== undefined) return user;
    throw new TrunklineError('user_not_found', 'there is no user of that name; GET /v1/admin/users lists them');
  }

  /** The user whose key it is. The look-up is by hash, so its time tells nothing of the key. */
  ownerOf(key: string): User | undefined {
    return this.#bySecret.get(hashKey(key));
  }

  /** Replaces all users, and tells the listeners. */
  replace(users: readonly User[]): void {
    this.#byName = new Map(users.map((user) => [user.name, user]));
    this.#bySecret = new Map(users.filter(({ kind }) => kind === 'key').map((user) => [user.secret, user]));
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after every change. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }
}

/** Refuses a change after which there would be no admin. @throws TrunklineError `last_admin` */
export function refuseLastAdmin(): never {
  throw new TrunklineError(
    'last_admin',
    'nobody else could administer this server: add another admin first, or set API_KEYS',
  );
}
