import type { Clock } from '../../foundation/clock.ts';
import { Buckets } from './buckets.ts';
import type { Client } from './origin.ts';
import type { Principal } from './principal.ts';

/** Where it is kept who did what. It must not throw. */
export interface AuditSink {
  note(entry: {
    readonly who: string;
    readonly role: string;
    readonly action: string;
    readonly callId: string | null;
    readonly detail: Readonly<Record<string, unknown>>;
  }): void;
}

/** Refused sign-ins of one name, or of all keys, that are noted, so that guessing does not fill the disk. */
const REFUSED = { burst: 100, refillMs: 60_000 } as const;

/** Notes who signed in and out, and who was refused. */
export class SignInLog {
  readonly #audit: AuditSink | null;
  readonly #room: Buckets;
  /** By name; '' = keys. */
  readonly #unnoted = new Map<string, number>();

  constructor({ clock, audit }: { clock: Clock; audit: AuditSink | null }) {
    this.#audit = audit;
    this.#room = new Buckets(clock, REFUSED);
  }

  /** `action` = `session.opened`, `session.ended` or `sessions.ended` (all of one user). */
  note({ name, role }: Pick<Principal, 'name' | 'role'>, action: string, { address }: Client): void {
    this.#audit?.note({ who: name, role, action, callId: null, detail: { address } });
  }

  /**
   * A wrong key (`name` null), or a wrong password. Names that nobody has are not noted: people type passwords there.
   */
  refuse(name: string | null, { address }: Client): void {
    const whose = name ?? '';
    const unnoted = this.#unnoted.get(whose) ?? 0;
    if (this.#room.isEmpty(whose)) {
      this.#unnoted.set(whose, unnoted + 1);
      return;
    }
    this.#room.take(whose);
    this.#unnoted.delete(whose);
    const detail = { address, ...(unnoted > 0 && { unnoted }) };
    this.#audit?.note({ who: name ?? 'unknown', role: 'none', action: 'session.refused', callId: null, detail });
  }
}
