/** One-use tokens that tie a media stream to the webhook that asked for it: who has not been through `/twilio/voice` has none. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';

/** 128 bits: cannot be guessed. */
const TOKEN_BYTES = 16;
/** Twilio opens the stream within seconds of the webhook; a slow carrier or a queue in front of `<Connect>` may take minutes. */
const TOKEN_LIFE_MS = 600_000;
/** Tokens outstanding at once; beyond it the oldest goes, so that a flood of webhooks cannot fill the memory. */
const TOKENS_MAX = 10_000;

/** The two ends of a call as the signed webhook named them; null = not told. */
export interface CallParties {
  readonly from: string | null;
  readonly to: string | null;
}

interface Issued extends CallParties {
  readonly callId: string;
  readonly expiresAtMs: number;
}

/** The tokens that were issued and not yet used. They expire after ten minutes; no timer runs for that. */
export class CallTokens {
  readonly #clock: Clock;
  /** In the order of issue, which is the order of expiry: every token lives equally long. */
  readonly #issued = new Map<string, Issued>();

  constructor(options: { clock: Clock }) {
    this.#clock = options.clock;
  }

  /** A new token (URL-safe text) for the call `callId`, good for one {@link redeem}. */
  issue(call: CallParties & { readonly callId: string }): string {
    this.#dropExpired();
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    this.#issued.set(token, { callId: call.callId, from: call.from, to: call.to, expiresAtMs: this.#clock.nowMs() + TOKEN_LIFE_MS });
    if (this.#issued.size > TOKENS_MAX) this.#dropOldest();
    return token;
  }

  /** What `token` was issued with, or null when it is unknown, used, expired or another call's. Any attempt uses the token up. */
  redeem(token: string, callId: string): CallParties | null {
    this.#dropExpired();
    const issued = this.#issued.get(token);
    if (issued === undefined) return null;
    this.#issued.delete(token);
    return issued.callId === callId ? { from: issued.from, to: issued.to } : null;
  }

  #dropExpired(): void {
    const nowMs = this.#clock.nowMs();
    for (const [token, issued] of this.#issued) {
      if (issued.expiresAtMs > nowMs) return;
      this.#issued.delete(token);
    }
  }

  #dropOldest(): void {
    for (const token of this.#issued.keys()) {
      this.#issued.delete(token);
      return;
    }
  }
}
