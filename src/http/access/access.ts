/**
 * Who may come in. Locked by default: a configured secret is always asked for (API_KEYS here, TWILIO_AUTH_TOKEN at
 * Twilio's doors); where there is none, only this machine itself may come in, unless ALLOW_ANONYMOUS lets everybody.
 */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { isOneOfSecrets, isSameSecret } from '../../foundation/timing-safe.ts';
import { Attempts } from './attempts.ts';
import { isLocal, Origins } from './origin.ts';
import { SESSION_LIFE_MS, Sessions } from './sessions.ts';

/** The browser's proof that a key was typed. */
export const SESSION_COOKIE = 'trunkline_session';

/** Enough of a hash to tell one key from another. */
const TENANT_CHARS = 16;
/** Where there are no keys, all who come in are one: what they may call themselves proves nothing. */
const NOBODY_IN_PARTICULAR = '';

interface AccessOptions {
  readonly settings: Pick<Settings, 'API_KEYS' | 'ALLOW_ANONYMOUS' | 'PUBLIC_URL' | 'TRUSTED_PROXIES'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

/** The rules, with the sessions and the failed attempts of one server. */
export class Access {
  readonly #settings: AccessOptions['settings'];
  readonly #log: AccessOptions['log'];
  readonly #origins: Origins;
  readonly #attempts: Attempts;
  readonly #sessions: Sessions;
  readonly #tenants = new WeakMap<FastifyRequest, string>();
  #hasWarned = false;

  constructor({ settings, clock, log }: AccessOptions) {
    this.#settings = settings;
    this.#log = log;
    this.#origins = new Origins(settings);
    this.#attempts = new Attempts({ clock });
    this.#sessions = new Sessions({ clock });
  }

  /**
   * Lets a request with a key or a session in; without API_KEYS, one of this machine.
   * @throws TrunklineError `api_key_missing`, `invalid_api_key`, `too_many_attempts` or `anonymous_refused`
   */
  admit(request: FastifyRequest): void {
    this.#tenants.set(request, this.#identify(request));
  }

  /**
   * Whose work a request asks for: that of the key that it brought or that opened its session. It says nothing of the
   * key, and stays the same while the request lasts, whatever becomes of the session.
   * @throws Error when {@link admit} has not let the request in
   */
  tenantOf(request: FastifyRequest): string {
    const tenant = this.#tenants.get(request);
    if (tenant === undefined) throw new Error("the request has not been let in, so it is nobody's");
    return tenant;
  }

  /** Whether {@link admit} would let the request in; a wrong key counts as an attempt here too. */
  admits(request: FastifyRequest): boolean {
    try {
      this.admit(request);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Lets a request in that no secret protects.
   * @throws TrunklineError `anonymous_refused`
   */
  admitAnonymous(request: FastifyRequest): void {
    if (this.#settings.ALLOW_ANONYMOUS || isLocal(request)) return;
    throw new TrunklineError(
      'anonymous_refused',
      'with no secret configured this door is open to this machine only, by its loopback name and without a ' +
        'proxy; set the secret that guards it, or ALLOW_ANONYMOUS=true',
    );
  }

  /**
   * Lets a request in with these Basic credentials (RFC 7617); where there is no password, one of this machine.
   * @throws TrunklineError `credentials_invalid`, `too_many_attempts` or `anonymous_refused`
   */
  admitBasic(request: FastifyRequest, user: string, password: string): void {
    if (password === '') {
      this.admitAnonymous(request);
      return;
    }
    const given = basicOf(request);
    const isRight = () => given !== null && isSameSecret(given, `${user}:${password}`);
    if (given !== null && this.#attempt(request, isRight)) return;
    throw new TrunklineError(
      'credentials_invalid',
      'this door needs a username and a password: Authorization: Basic, as its settings say',
    );
  }

  /**
   * Lets a carrier in with `token`: a bearer token, a Basic password whatever the user, the value of `header`, or
   * `?token=`, for each carrier has another way to send one. Where there is no token, one of this machine.
   * @throws TrunklineError `credentials_invalid`, `too_many_attempts` or `anonymous_refused`
   */
  admitToken(request: FastifyRequest, token: string, header?: string): void {
    if (token === '') {
      this.admitAnonymous(request);
      return;
    }
    const given = tokensOf(request, header);
    const isRight = () => isOneOfSecrets(token, given);
    if (given.length > 0 && this.#attempt(request, isRight)) return;
    throw new TrunklineError(
      'credentials_invalid',
      'this door needs CARRIER_TOKEN: as a bearer token, as a password, or as ?token= in its URL',
    );
  }

  /**
   * Keeps other sites' pages from acting through a visitor's browser: WebSockets and all but GET and HEAD must come
   * from our own pages or from programs.
   * @throws TrunklineError `origin_refused`
   */
  refuseForeign(request: FastifyRequest): void {
    const isReading = (request.method === 'GET' || request.method === 'HEAD') && !request.ws;
    if (isReading || !this.#origins.isForeign(request)) return;
    throw new TrunklineError(
      'origin_refused',
      'the request was made by a page of another site (Origin), expected one of this server or none',
    );
  }

  /**
   * Exchanges a key for a session.
   * @returns the `Set-Cookie` header, or null where no keys are asked for
   * @throws TrunklineError as {@link admit}
   */
  signIn(request: FastifyRequest, key: string): string | null {
    if (this.#settings.API_KEYS.length === 0) {
      this.admitAnonymous(request);
      return null;
    }
    return this.#cookie(request, this.#sessions.open(this.#checkKey(request, key)), SESSION_LIFE_MS / 1000);
  }

  /** Ends the request's session, if it has one. Returns the `Set-Cookie` header that makes the browser forget it. */
  signOut(request: FastifyRequest): string {
    this.#sessions.end(sessionOf(request));
    return this.#cookie(request, '', 0);
  }

  /** The tenant. Throws as {@link admit}. */
  #identify(request: FastifyRequest): string {
    if (this.#settings.API_KEYS.length === 0) {
      this.admitAnonymous(request);
      return NOBODY_IN_PARTICULAR;
    }
    const key = bearerOf(request);
    if (key !== null) return this.#checkKey(request, key);
    const tenant = this.#sessions.tenantOf(sessionOf(request));
    if (tenant !== null) return tenant;
    throw new TrunklineError(
      'api_key_missing',
      'this door needs a key: send Authorization: Bearer <key>, or sign in at / with a browser',
    );
  }

  /** The key's tenant. Throws `invalid_api_key` or `too_many_attempts`. */
  #checkKey(request: FastifyRequest, key: string): string {
    if (this.#attempt(request, () => isOneOfSecrets(key, this.#settings.API_KEYS))) return tenantOf(key);
    throw new TrunklineError('invalid_api_key', 'the key is not one of API_KEYS');
  }

  /**
   * Whether what the request brought is right; wrong ones are counted. Throws `too_many_attempts` when there were too
   * many of them.
   */
  #attempt(request: FastifyRequest, isRight: () => boolean): boolean {
    this.#warnOfUntrustedProxy(request);
    const outcome = this.#attempts.attempt(this.#origins.clientOf(request), isRight);
    if (outcome !== 'refused') return outcome === 'right';
    throw new TrunklineError('too_many_attempts', 'too many wrong keys came from this address; try again in a minute');
  }

  /**
   * Once: an operator who forgot a proxy learns why all its clients count as one, and strangers cannot fill the log.
   */
  #warnOfUntrustedProxy(request: FastifyRequest): void {
    const proxy = this.#hasWarned ? null : this.#origins.untrustedProxy(request);
    if (proxy === null) return;
    this.#hasWarned = true;
    this.#log.warn(
      { proxy },
      'X-Forwarded-For is not believed: if this address is your reverse proxy, name it in TRUSTED_PROXIES',
    );
  }

  #cookie(request: FastifyRequest, value: string, maxAgeSeconds: number): string {
    const secure = this.#origins.isSecure(request) ? '; Secure' : '';
    return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
  }
}

function tenantOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, TENANT_CHARS);
}

/** RFC 6750 §2.1. Null when no key was sent that way. */
function bearerOf(request: FastifyRequest): string | null {
  return /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim() ?? null;
}

/** `user:password` as it was sent; null when none was. */
function basicOf(request: FastifyRequest): string | null {
  const encoded = /^basic +([\w+/=-]{1,1024})$/i.exec(request.headers.authorization ?? '')?.[1];
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString();
}

/** Every token that a carrier's handshake brings. */
function tokensOf(request: FastifyRequest, header?: string): string[] {
  const { token } = request.query as Readonly<Record<string, unknown>>;
  const sent = header === undefined ? undefined : request.headers[header];
  const basic = basicOf(request);
  return [bearerOf(request), basic?.slice(basic.indexOf(':') + 1), sent, token].filter(
    (each) => typeof each === 'string',
  );
}

function sessionOf(request: FastifyRequest): string {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${SESSION_COOKIE}=`))?.slice(SESSION_COOKIE.length + 1) ?? '';
}
