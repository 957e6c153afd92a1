/** People and keys with a role. */
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';
import { ROLES, type Role } from '../../foundation/roles.ts';

/** Somebody who may use the server, or a program's key. */
export interface User {
  /** In small letters, NFC; see {@link userName}. */
  readonly name: string;
  /** `person`: signs in with a password; `key`: a program that sends a generated key. */
  readonly kind: 'person' | 'key';
  readonly role: Role;
  /** Of an agent: the parameter `agent` of their calls; null for all other roles. */
  readonly agent: string | null;
  /** `$scrypt$…` of a password, or `$sha256$…` of a key. */
  readonly secret: string;
  readonly createdMs: number;
}

/** Names of keys in API_KEYS and of this machine in notes and in the audit log. */
const RESERVED = /^(?:local|key-.*)$/;

/** How a user is called. */
export const userName = z
  .string()
  .transform((name) => name.normalize('NFC').toLowerCase())
  .pipe(
    z
      .string()
      .regex(
        /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._@+-]{0,63}$/u,
        'expected 1 to 64 letters, digits and . _ @ + -, a letter or digit first',
      )
      .refine((name) => !RESERVED.test(name), 'expected a name other than "local" and "key-…", which others have'),
  );

/** The parameter `agent` of calls, as {@link User.agent} has it. */
export const agentName = z.string().min(1).max(128);

/** A role, as requests name it. */
export const roleName = z.enum(ROLES);

const PASSWORD_MIN_CHARS = 10;
const PASSWORD_MAX_CHARS = 200;

/** A password that somebody chooses. */
export const newPassword = z
  .string()
  .min(PASSWORD_MIN_CHARS, `expected at least ${PASSWORD_MIN_CHARS} characters`)
  .max(PASSWORD_MAX_CHARS, `expected at most ${PASSWORD_MAX_CHARS} characters`);

/**
 * The `agent` of a user with `role`: by default an agent's is the name.
 * @throws TrunklineError `invalid_request` for an `agent` of another role
 */
export function agentOf(role: Role, name: string, agent: string | null | undefined): string | null {
  if (role === 'agent') return agent ?? name;
  if (agent === undefined || agent === null) return null;
  throw new TrunklineError('invalid_request', `agent: the role ${role} has none, only the role agent does`, 'agent');
}
