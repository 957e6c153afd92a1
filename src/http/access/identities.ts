/** Whom a key, a session or nothing at all stands for: API_KEYS and the users. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isOneOfSecrets } from '../../foundation/timing-safe.ts';
import type { User } from '../../records/users/user.ts';
import type { Users } from '../../records/users/users.ts';
import type { Principal } from './principal.ts';

/** Characters of a key's hash that identify its tenant. */
const TENANT_CHARS = 16;
/** Characters of a key's hash that name it in notes and in the audit log. */
const NAME_CHARS = 6;
/** Without a secret all clients are one tenant, because nothing proves who they are. */
const ANONYMOUS: Principal = Object.freeze({ name: 'local', role: 'admin', agent: null, tenant: '' });

/**
 * What a principal proved. `key`: one of API_KEYS; `user`: `stamp` changes with the user's secret, role and agent, so
 * that what was proved before holds no longer; `nobody`: nothing is locked.
 */
export type Proof =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'key'; readonly tenant: string }
  | { readonly kind: 'user'; readonly name: string; readonly stamp: string };

/** A proof that was written down; that of nobody never is. */
export const storedProof = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('key'), tenant: z.string() }),
  z.strictObject({ kind: z.literal('user'), name: z.string(), stamp: z.string() }),
]);

/** Who may come in now. */
export class Identities {
  readonly #keys: readonly string[];
  readonly #tenants: ReadonlySet<string>;
  readonly #users: Users | null;
  #hadUsers = false;

  constructor({ apiKeys, users }: { apiKeys: readonly string[]; users: Users | null }) {
    this.#keys = apiKeys;
    this.#tenants = new Set(apiKeys.map(tenantOf));
    this.#users = users;
    const look = () => {
      this.#hadUsers ||= users !== null && users.list.size > 0;
    };
    look();
    users?.list.onChange(look);
  }

  /**
   * Whether a secret is asked for. Once there were users it stays so until the next start: a file of users that becomes
   * empty opens nothing.
   */
  get isLocked(): boolean {
    return this.#keys.length > 0 || this.#hadUsers;
  }

  /** How many keys and users may come in. */
  get count(): number {
    return this.#keys.length + (this.#users?.list.size ?? 0);
  }

  /** Whose `key` it is; null = nobody's. */
  proofOfKey(key: string): Proof | null {
    if (isOneOfSecrets(key, this.#keys)) return { kind: 'key', tenant: tenantOf(key) };
    const owner = this.#users?.list.ownerOf(key);
    return owner === undefined ? null : proofOf(owner);
  }

  /** The person who signs in as `name`; undefined for a key's name too. */
  person(name: string): User | undefined {
    const user = this.#users?.list.find(name);
    return user?.kind === 'person' ? user : undefined;
  }

  /** Whom `proof` stands for now; null = no longer anybody. */
  principalOf(proof: Proof): Principal | null {
    if (proof.kind === 'nobody') return this.isLocked ? null : ANONYMOUS;
    if (proof.kind === 'key') {
      const { tenant } = proof;
      return this.#tenants.has(tenant)
        ? { name: `key-${tenant.slice(0, NAME_CHARS)}`, role: 'admin', agent: null, tenant }
        : null;
    }
    const user = this.#users?.list.find(proof.name);
    if (user === undefined || stampOf(user) !== proof.stamp) return null;
    const { name, role, agent } = user;
    return { name, role, agent, tenant: tenantOf(`user\0${name}`) };
  }
}

/** What signing in as `user` proves. */
export function proofOf(user: User): Proof {
  return { kind: 'user', name: user.name, stamp: stampOf(user) };
}

/** Whose sessions are counted, and ended, together. */
export function subjectOf(proof: Proof): string {
  if (proof.kind === 'user') return `user ${proof.name}`;
  return proof.kind === 'key' ? `key ${proof.tenant}` : '';
}

function stampOf({ secret, role, agent, createdMs }: User): string {
  return tenantOf(JSON.stringify([secret, role, agent, createdMs]));
}

/** A hash that does not reveal the key. A key cannot have a NUL, so it cannot be taken for a user's. */
function tenantOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, TENANT_CHARS);
}
