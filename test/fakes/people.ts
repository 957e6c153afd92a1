/** Users in memory, and passwords whose secret is the password itself. */
import { TrunklineError } from '../../src/foundation/errors.ts';
import type { Role } from '../../src/foundation/roles.ts';
import type { People, SessionStore } from '../../src/records/users/people.ts';
import { hashKey } from '../../src/records/users/secrets.ts';
import type { StoredSession } from '../../src/records/users/stored-sessions.ts';
import type { User } from '../../src/records/users/user.ts';
import { type UserChange, UserList, type Users } from '../../src/records/users/users.ts';

class MemoryUsers implements Users {
  readonly source = 'table';
  readonly list = new UserList();

  async add(user: User): Promise<void> {
    if (this.list.find(user.name) !== undefined) throw new TrunklineError('user_exists', 'twice');
    this.list.replace([...this.list.all, user]);
  }

  async change(name: string, change: UserChange): Promise<User> {
    const changed = { ...this.list.get(name), ...change };
    this.list.replace(this.list.all.map((user) => (user.name === changed.name ? changed : user)));
    return changed;
  }

  async remove(name: string): Promise<void> {
    const removed = this.list.get(name);
    this.list.replace(this.list.all.filter((user) => user !== removed));
  }

  close(): void {
    // Nothing is open.
  }
}

/** Sessions that a second server may take up. */
export class MemorySessions implements SessionStore {
  readonly kept = new Map<string, StoredSession>();

  async secret(): Promise<Buffer> {
    return Buffer.from('the key of the hashes of these sessions');
  }

  async load(nowMs: number): Promise<StoredSession[]> {
    return [...this.kept.values()].filter(({ expiresMs }) => expiresMs > nowMs);
  }

  async add(session: StoredSession): Promise<void> {
    this.kept.set(session.hash, session);
  }

  async remove(hashes: readonly string[]): Promise<void> {
    for (const hash of hashes) this.kept.delete(hash);
  }
}

/** People of a test. A person's password is `<name>s-password`, a key `<name>s-key`. */
export class FakePeople implements People {
  readonly users = new MemoryUsers();
  areUnreadable = false;
  readonly sessions = new MemorySessions();
  /** Secrets that passwords were compared with; null = nobody's. */
  readonly compared: (string | null)[] = [];

  readonly passwords = {
    hash: async (password: string) => `hash of ${password}`,
    verify: async (password: string, secret: string | null) => {
      this.compared.push(secret);
      return secret === `hash of ${password}`;
    },
  };

  with(name: string, role: Role, { agent = null, kind = 'person' }: Partial<Pick<User, 'agent' | 'kind'>> = {}): this {
    const secret = kind === 'key' ? hashKey(`${name}s-key`) : `hash of ${name}s-password`;
    this.users.list.replace([...this.users.list.all, { name, kind, role, agent, secret, createdMs: 1 }]);
    return this;
  }

  async refresh(): Promise<void> {
    // They are always as they are.
  }

  close(): void {
    // Nothing is open.
  }
}
