/** Who makes a request, and what that allows. */
import type { Role } from '../../foundation/roles.ts';

/** A person, a key, or, where nothing is locked, whoever is on this machine. */
export interface Principal {
  /** For the audit log and for notes: a user's name, or the beginning of a key's hash. */
  readonly name: string;
  readonly role: Role;
  /** Of an agent: the value of the parameter `agent` of their calls. */
  readonly agent: string | null;
  /** Whose batches and shares of the engines these are. */
  readonly tenant: string;
}
