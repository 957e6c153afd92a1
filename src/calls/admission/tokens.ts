/**
 * One-use tokens that tie a media stream to the webhook that asked for it: who has not been through `/twilio/voice` has
 * none.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../foundation/clock.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import { OneUse } from './one-use.ts';

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
  readonly #issued: OneUse<Issued>;

  constructor(options: { clock: Clock }) {
    this.#issued = new OneUse({ clock: options.clock, itemsMax: TOKENS_MAX });
  }

  /** A new token (URL-safe text) for the call `callId`, good for one {@link redeem}. */
  issue({ callId, ...known }: KnownCall & { readonly callId: string }): string {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    this.#issued.put(token, { callId, known });
    return token;
  }

  /** Takes a token back that was issued. */
  revoke(token: string): void {
    this.#issued.take(token);
  }

  /**
   * What `token` was issued with, or null when it is unknown, used, expired or another call's. Any attempt uses the
   * token up.
   */
  redeem(token: string, callId: string): KnownCall | null {
    const issued = this.#issued.take(token);
    return issued?.callId === callId ? issued.known : null;
  }
}
