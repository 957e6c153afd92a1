/**
 * One-use tokens that tie a media stream to the webhook that asked for it: who has not been through `/twilio/voice` has
 * none.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../foundation/clock.ts';
import { type MaybePromise, whenReady } from '../../foundation/maybe-promise.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import { type OneTime, type OneUseStore, openOneTime } from './shared-one-use.ts';

/** 128 bits: cannot be guessed. */
const TOKEN_BYTES = 16;
/** Tokens outstanding at once. */
const TOKENS_MAX = 10_000;

/** The two ends of a call as the signed webhook named them; null = not told. */
export interface CallParties {
  readonly from: string | null;
  readonly to: string | null;
}

/** What the webhook knows of a call, to be known of its stream. */
export interface KnownCall extends CallParties, Pick<CallStart, 'details' | 'relay'> {
  /** The flow that was asked for; a parameter of the stream goes before it. */
  readonly flow?: string | undefined;
}

interface Issued {
  readonly callId: string;
  readonly known: KnownCall;
}

/** The tokens that were issued and not yet used. They expire after ten minutes. */
export class CallTokens {
  readonly #issued: OneTime<Issued>;

  /** `store`: where any gateway of a cluster finds them; absent or null = they are good here alone. */
  constructor({ clock, store = null }: { clock: Clock; store?: OneUseStore | null }) {
    this.#issued = openOneTime({ clock, itemsMax: TOKENS_MAX, kind: 'call-token', store });
  }

  /**
   * A new token (URL-safe text) for the call `callId`, good for one {@link redeem}: on any gateway as soon as
   * {@link settled} resolves.
   */
  issue({ callId, ...known }: KnownCall & { readonly callId: string }): string {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    this.#issued.put(token, { callId, known });
    return token;
  }

  /** Resolves when other gateways know the tokens that were issued so far, or after a second. Never rejects. */
  settled(): Promise<void> {
    return this.#issued.settled();
  }

  /** Takes a token back that was issued. */
  revoke(token: string): void {
    const taken = this.#issued.take(token);
    // Where the store is away, it expires.
    if (taken instanceof Promise) void taken.catch(() => undefined);
  }

  /**
   * What `token` was issued with, or null when it is unknown, used, expired or another call's. Any attempt uses the
   * token up. No promise where nothing is shared; else rejects with `shared_state_unavailable` when nobody can tell.
   */
  redeem(token: string, callId: string): MaybePromise<KnownCall | null> {
    return whenReady(this.#issued.take(token), (issued) => (issued?.callId === callId ? issued.known : null));
  }
}
