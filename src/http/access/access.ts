/**
 * Decides which requests are admitted. A configured secret is always required: API_KEYS here, TWILIO_AUTH_TOKEN on
 * Twilio's routes. Without a secret only requests from this machine are admitted, unless ALLOW_ANONYMOUS is set.
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
import { isPermitted, PERMISSIONS, type Permission } from './permissions.ts';
import type { Role } from '../../foundation/roles.ts';
import type { Principal } from './principal.ts';
import { SESSION_LIFE_MS, Sessions } from './sessions.ts';

/** Names the cookie that a browser gets when its user has signed in with a key. */
export const SESSION_COOKIE = 'trunkline_session';

/** Characters of a key's hash that identify its tenant. */
const TENANT_CHARS = 16;
/** Characters of a key's hash that name it in notes and in the audit log. */
const NAME_CHARS = 6;
/** Without API_KEYS all clients are one tenant, because nothing proves who they are. */
const ANONYMOUS: Principal = Object.freeze({ name: 'local', role: 'admin', agent: null, tenant: '' });

interface AccessOptions {
  readonly settings: Pick<Settings, 'API_KEYS' | 'ALLOW_ANONYMOUS' | 'PUBLIC_URL' | 'TRUSTED_PROXIES'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

/** The access rules, sessions and failed attempts of one server. */
export class Access {
  readonly #settings: AccessOptions['settings'];
  readonly #log: AccessOptions['log'];
  readonly #origins: Origins;
  readonly #attempts: Attempts;
  readonly #sessions: Sessions;
  readonly #principals = new WeakMap<FastifyRequest, Principal>();
  #hasWarned = false;

  constructor({ settings, clock, log }: AccessOptions) {
    this.#settings = settings;
    this.#log = log;
    this.#origins = new Origins(settings);
    this.#attempts = new Attempts({ clock });
    this.#sessions = new Sessions({ clock });
  }

  /**
   * Admits a request with a key or a session. Without API_KEYS it admits requests from this machine.
   * @throws TrunklineError `api_key_missing`, `invalid_api_key`, `too_many_attempts` or `anonymous_refused`
   */
  admit(request: FastifyRequest): void {
    this.#principals.set(request, this.#identify(request));
  }

  /**
   * Who makes a request. It does not change while the request lasts, even if the session ends.
   * @throws Error when {@link admit} has not admitted the request
   */
  principalOf(request: FastifyRequest): Principal {
    const principal = this.#principals.get(request);
    if (principal === undefined) throw new Error('the request has not been admitted, so nobody knows whose it is');
    return principal;
  }

  /**
   * The tenant of a request. It does not reveal the key.
   * @throws Error when {@link admit} has not admitted the request
   */
  tenantOf(request: FastifyRequest): string {
    return this.principalOf(request).tenant;
  }

  /**
   * Refuses an admitted request whose principal has none of `roles`.
   * @throws TrunklineError `role_refused`
   */
  require(request: FastifyRequest, ...roles: readonly Role[]): Principal {
    const principal = this.principalOf(request);
    if (roles.includes(principal.role)) return principal;
    throw new TrunklineError(
      'role_refused',
      `the role ${principal.role} may not do this; it needs ${roles.join(' or ')}`,
    );
  }

  /**
   * Refuses an admitted request whose principal has not `permission`.
   * @throws TrunklineError `role_refused`
   */
  permit(request: FastifyRequest, permission: Permission): Principal {
    if (isPermitted(this.principalOf(request).role, permission)) return this.principalOf(request);
    return this.require(request, ...PERMISSIONS[permission]);
  }

  /** Whether {@link admit} would admit the request. A wrong key counts as an attempt here too. */
  admits(request: FastifyRequest): boolean {
    try {
      this.admit(request);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Admits a request to a route without a secret.
   * @throws TrunklineError `anonymous_refused`
   */
  admitAnonymous(request: FastifyRequest): void {
    if (this.#settings.ALLOW_ANONYMOUS || isLocal(request)) return;
    throw new TrunklineError(
      'anonymous_refused',
      'no secret is configured, so only requests from this machine are allowed, to a loopback name and not through ' +
        'a proxy; set the secret for this endpoint, or ALLOW_ANONYMOUS=true',
    );
  }

  /**
   * Admits a request with these Basic credentials (RFC 7617). Without a password it admits requests from this machine.
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
      'this endpoint needs the configured username and password: send Authorization: Basic',
    );
  }

  /**
   * Admits a carrier that sends `token` as a bearer token, as a Basic password (with any user), as the value of
   * `header`, or as `?token=`: carriers differ in what they can send. Without a token it admits requests from this
   * machine.
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
      'this endpoint needs CARRIER_TOKEN: as a bearer token, as a password, or as ?token= in its URL',
    );
  }

  /**
   * Refuses requests that pages of other sites make through a user's browser: WebSockets, and all methods but GET and
   * HEAD.
   * @throws TrunklineError `origin_refused`
   */
  refuseForeign(request: FastifyRequest): void {
    const isReading = (request.method === 'GET' || request.method === 'HEAD') && !request.ws;
    if (isReading || !this.#origins.isForeign(request)) return;
    throw new TrunklineError(
      'origin_refused',
      'a page of another site made the request (Origin), expected an Origin of this server or none',
    );
  }

  /**
   * Exchanges a key for a session.
   * @returns the `Set-Cookie` header, or null without API_KEYS
   * @throws TrunklineError as {@link admit}
   */
  signIn(request: FastifyRequest, key: string): string | null {
    if (this.#settings.API_KEYS.length === 0) {
      this.admitAnonymous(request);
      return null;
    }
    return this.#cookie(request, this.#sessions.open(this.#checkKey(request, key).tenant), SESSION_LIFE_MS / 1000);
  }

  /** Ends the request's session, if it has one. Returns the `Set-Cookie` header that removes the cookie. */
  signOut(request: FastifyRequest): string {
    this.#sessions.end(sessionOf(request));
    return this.#cookie(request, '', 0);
  }

  /** Throws as {@link admit}. */
  #identify(request: FastifyRequest): Principal {
    if (this.#settings.API_KEYS.length === 0) {
      this.admitAnonymous(request);
      return ANONYMOUS;
    }
    const key = bearerOf(request);
    if (key !== null) return this.#checkKey(request, key);
    const tenant = this.#sessions.tenantOf(sessionOf(request));
    if (tenant !== null) return adminOf(tenant);
    throw new TrunklineError(
      'api_key_missing',
      'this endpoint needs a key: send Authorization: Bearer <key>, or sign in at / with a browser',
    );
  }

  /** Whose key it is. Throws `invalid_api_key` or `too_many_attempts`. */
  #checkKey(request: FastifyRequest, key: string): Principal {
    if (this.#attempt(request, () => isOneOfSecrets(key, this.#settings.API_KEYS))) return adminOf(tenantOf(key));
    throw new TrunklineError('invalid_api_key', 'the key is not one of API_KEYS');
  }

  /**
   * Whether the request's secret is right. Counts wrong ones. Throws `too_many_attempts` when there were too many.
   */
  #attempt(request: FastifyRequest, isRight: () => boolean): boolean {
    this.#warnOfUntrustedProxy(request);
    const outcome = this.#attempts.attempt(this.#origins.clientOf(request), isRight);
    if (outcome !== 'refused') return outcome === 'right';
    throw new TrunklineError('too_many_attempts', 'too many wrong keys came from this address; try again in a minute');
  }

  /**
   * Warns once only, so that clients cannot fill the log. An operator who forgot a proxy learns why all its clients
   * count as one.
   */
  #warnOfUntrustedProxy(request: FastifyRequest): void {
    const proxy = this.#hasWarned ? null : this.#origins.untrustedProxy(request);
    if (proxy === null) return;
    this.#hasWarned = true;
    this.#log.warn(
      { proxy },
      'X-Forwarded-For is ignored: if this address is your reverse proxy, add it to TRUSTED_PROXIES',
    );
  }

  #cookie(request: FastifyRequest, value: string, maxAgeSeconds: number): string {
    const secure = this.#origins.isSecure(request) ? '; Secure' : '';
    return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
  }
}

/** Who has one of API_KEYS. */
function adminOf(tenant: string): Principal {
  return { name: `key-${tenant.slice(0, NAME_CHARS)}`, role: 'admin', agent: null, tenant };
}

function tenantOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, TENANT_CHARS);
}

/** RFC 6750 §2.1. Null when no key was sent that way. */
function bearerOf(request: FastifyRequest): string | null {
  return /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim() ?? null;
}

/** The `user:password` of the request; null when it has none. */
function basicOf(request: FastifyRequest): string | null {
  const encoded = /^basic +([\w+/=-]{1,1024})$/i.exec(request.headers.authorization ?? '')?.[1];
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString();
}

/** All tokens in a carrier's handshake. */
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
