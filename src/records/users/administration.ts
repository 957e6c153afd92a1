import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Role } from '../../foundation/roles.ts';
import type { Passwords } from './passwords.ts';
import { hashKey, makeKey } from './secrets.ts';
import { agentOf, type User } from './user.ts';
import { refuseLastAdmin, type UserChange, type Users } from './users.ts';

/** A user to be. Without a password it is a key. */
export interface NewUser {
  readonly name: string;
  readonly role: Role;
  readonly agent?: string | undefined;
  readonly password?: string | undefined;
}

/** What is to be different. */
export interface WantedChange {
  readonly role?: Role | undefined;
  readonly agent?: string | undefined;
  readonly password?: string | undefined;
}

interface AdministrationOptions {
  readonly users: Users;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly clock: Clock;
  /** API_KEYS lets an admin in, whatever becomes of the users. */
  readonly hasKeys: boolean;
  /** No server runs: the only user may be removed. */
  readonly isOffline: boolean;
}

/** Adds, changes and removes users, one after the other, and sees to it that an admin is left. */
export class UserAdministration {
  readonly #options: AdministrationOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: AdministrationOptions) {
    this.#options = options;
  }

  /**
   * Adds a user; `key` is the generated key, which is kept nowhere.
   * @throws TrunklineError `last_admin`, `user_exists`, `users_in_file`, `invalid_request`
   */
  add({ name, role, agent, password }: NewUser): Promise<{ user: User; key: string | null }> {
    return this.#inTurn(async () => {
      const { users, passwords, clock, hasKeys } = this.#options;
      if (!hasKeys && this.#admins.length === 0 && role !== 'admin')
        throw new TrunklineError(
          'last_admin',
          'the first user must be an admin: as soon as there is a user everybody must sign in, and nobody could add ' +
            'another',
        );
      const key = password === undefined ? makeKey() : null;
      const user: User = {
        name,
        kind: key === null ? 'person' : 'key',
        role,
        agent: agentOf(role, name, agent),
        secret: key === null ? await passwords.hash(password ?? '') : hashKey(key),
        createdMs: clock.wall().getTime(),
      };
      await users.add(user);
      return { user, key };
    });
  }

  /**
   * Changes a user. Whoever is signed in as that user is signed out.
   * @throws TrunklineError `last_admin`, `user_not_found`, `users_in_file`, `invalid_request`
   */
  change(name: string, { role, agent, password }: WantedChange): Promise<User> {
    return this.#inTurn(async () => {
      const { users, passwords } = this.#options;
      const user = users.list.get(name);
      if (role !== undefined && role !== 'admin' && this.#isLastAdmin(user)) refuseLastAdmin();
      if (password !== undefined && user.kind === 'key')
        throw new TrunklineError('invalid_request', 'password: this user is a key, which has none', 'password');
      const newRole = role ?? user.role;
      const kept = newRole === 'agent' ? (agent ?? user.agent) : agent;
      const change: UserChange = {
        role: newRole,
        agent: agentOf(newRole, user.name, kept),
        ...(password !== undefined && { secret: await passwords.hash(password) }),
      };
      return users.change(user.name, change, !this.#options.hasKeys);
    });
  }

  /** Removes a user. @throws TrunklineError `last_admin`, `user_not_found`, `users_in_file` */
  remove(name: string): Promise<User> {
    return this.#inTurn(async () => {
      const { users, isOffline, hasKeys } = this.#options;
      const user = users.list.get(name);
      const isOnly = isOffline && users.list.size === 1;
      if (!isOnly && this.#isLastAdmin(user)) refuseLastAdmin();
      await users.remove(user.name, !hasKeys && !isOnly);
      return user;
    });
  }

  get #admins(): readonly User[] {
    return this.#options.users.list.all.filter(({ role }) => role === 'admin');
  }

  #isLastAdmin(user: User): boolean {
    return !this.#options.hasKeys && user.role === 'admin' && this.#admins.length === 1;
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const own = this.#last.then(change);
    this.#last = own.catch(() => undefined);
    return own;
  }
}
