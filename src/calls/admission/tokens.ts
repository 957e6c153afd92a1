/**
 * One-use tokens that tie a media stream to the webhook that asked for it: who has not been through `/twilio/voice` has
 * none.
 */
import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../foundation/clock.ts';
import { type MaybePromise, whenReady } from '../../foundation/maybe-promise.ts';
import { SealedText, sealedChars } from '../../foundation/sealed-text.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import { type OneTime, type OneUseStore, openOneTime } from './shared-one-use.ts';

/** 128 bits: cannot be guessed. */
const TOKEN_BYTES = 16;
/** Tokens outstanding at once. */
const TOKENS_MAX = 10_000;
/** How long a token holds by what it says itself. The carrier's stream comes seconds after its webhook. */
const SEALED_LIFE_MS = 60_000;
/** How far the clocks of two gateways may be apart, either way. */
const CLOCKS_APART_MS = 30_000;
/** Name and value of a stream's parameter have 500 characters (https://www.twilio.com/docs/voice/twiml/stream). */
const TOKEN_MAX_CHARS = 500 - 'token'.length;

/** The two ends of a call as the signed webhook named them; null = not told. */
export interface CallParties {
  readonly from: string | null;
  readonly to: string | null;
}

/** What the webhook knows of a call, to be known of its stream. */
export interface KnownCall extends CallParties, Pick<CallStart, 'details' | 'relay' | 'outgoing' | 'answeredBy'> {
  /** The flow that was asked for; a parameter of the stream goes before it. */
  readonly flow?: string | undefined;
}

/** What a token stands for. */
interface IssuedToken {
  readonly callId: string;
  readonly known: KnownCall;
}

interface Content extends IssuedToken {
  /** When it was given out, in ms since 1970. */
  readonly atMs: number;
}

/**
 * What a token says itself, to gateways with the same CLUSTER_KEY: which call it is of, what the webhook knew of it,
 * and when it was given out. Sealed, so that neither the carrier's logs nor a browser show who calls whom.
 */
class TokenSeal {
  readonly #clock: Clock;
  readonly #sealed: SealedText;

  /** @param clusterKey CLUSTER_KEY, not empty */
  constructor(clock: Clock, clusterKey: string) {
    this.#clock = clock;
    this.#sealed = new SealedText(clusterKey, 'trunkline call tokens');
  }

  /** A token that says `issued`, without the call's details where they have no room; null = the rest has none. */
  seal(issued: IssuedToken): string | null {
    const { details: _details, ...known } = issued.known;
    for (const said of [issued, { callId: issued.callId, known }]) {
      const content: Content = { ...said, atMs: this.#clock.wall().getTime() };
      const text = JSON.stringify(content);
      if (sealedChars(Buffer.byteLength(text)) <= TOKEN_MAX_CHARS) return this.#sealed.seal(text);
    }
    return null;
  }

  /** What `token` says, whatever its age; null = it says nothing. */
  read(token: string): { readonly issued: IssuedToken; readonly isFresh: boolean } | null {
    if (token.length > TOKEN_MAX_CHARS) return null;
    const text = this.#sealed.open(token);
    if (text === null) return null;
    const { atMs, ...issued } = JSON.parse(text) as Content;
    const ageMs = this.#clock.wall().getTime() - atMs;
    return { issued, isFresh: ageMs >= -CLOCKS_APART_MS && ageMs <= SEALED_LIFE_MS + CLOCKS_APART_MS };
  }
}

interface TokensOptions {
  readonly clock: Clock;
  /** Where any gateway of a cluster finds them; absent or null = they are good here alone. */
  readonly store?: OneUseStore | null;
  /** CLUSTER_KEY: with it tokens are good at other gateways while the store is away; absent or empty = they are not. */
  readonly clusterKey?: string;
}

/** The tokens that were issued and not yet used. They expire after ten minutes. */
export class CallTokens {
  readonly #issued: OneTime<IssuedToken>;
  /** Null = tokens say nothing. */
  readonly #seal: TokenSeal | null;
  /** Tokens that say something and were asked for here: what they say holds once. */
  readonly #used = new LRUCache<string, true>({ max: TOKENS_MAX });

  constructor({ clock, store = null, clusterKey = '' }: TokensOptions) {
    this.#seal = store === null || clusterKey === '' ? null : new TokenSeal(clock, clusterKey);
    const readKey = (token: string): IssuedToken | null | undefined => this.#readOnce(token);
    this.#issued = openOneTime({ clock, itemsMax: TOKENS_MAX, kind: 'call-token', store, readKey });
  }

  /**
   * A new token (URL-safe text) for the call `callId`, good for one {@link redeem}: on any gateway as soon as
   * {@link settled} resolves.
   */
  issue({ callId, ...known }: KnownCall & { readonly callId: string }): string {
    const issued = { callId, known };
    const token = this.#seal?.seal(issued) ?? randomBytes(TOKEN_BYTES).toString('base64url');
    this.#issued.put(token, issued);
    return token;
  }

  /** Resolves when other gateways know the tokens that were issued so far, or after a second. Never rejects. */
  settled(): Promise<void> {
    return this.#issued.settled();
  }

  /** Takes a token back that was issued. */
  revoke(token: string): void {
    const taken = this.#take(token);
    // Where the store is away, it expires.
    if (taken instanceof Promise) void taken.catch(() => undefined);
  }

  /**
   * What `token` was issued with, or null when it is unknown, used, expired or another call's. Any attempt uses the
   * token up. No promise where nothing is shared; else rejects with `shared_state_unavailable` when nobody can tell.
   */
  redeem(token: string, callId: string): MaybePromise<KnownCall | null> {
    return whenReady(this.#take(token), (issued) => (issued?.callId === callId ? issued.known : null));
  }

  #take(token: string): MaybePromise<IssuedToken | null> {
    return whenReady(this.#issued.take(token), (issued) => {
      // Also where the store had it: it may be away when the token comes again.
      if (this.#seal !== null && this.#seal.read(token) !== null) this.#used.set(token, true);
      return issued;
    });
  }

  /** See `readKey` of {@link openOneTime}. */
  #readOnce(token: string): IssuedToken | null | undefined {
    const told = this.#seal?.read(token) ?? null;
    if (told === null || !told.isFresh) return undefined;
    if (this.#used.has(token)) return null;
    this.#used.set(token, true);
    return told.issued;
  }
}
