/**
 * Decides which requests are admitted. A configured secret is always required: API_KEYS and users here,
 * TWILIO_AUTH_TOKEN on Twilio's routes. Without a secret only requests from this machine are admitted, unless
 * ALLOW_ANONYMOUS is set.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Role } from '../../foundation/roles.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { isOneOfSecrets, isSameSecret } from '../../foundation/timing-safe.ts';
import type { ListenerOwner } from '../../listening/shares.ts';
import type { People } from '../../records/users/people.ts';
import { AccessWarnings } from './access-warnings.ts';
import { Attempts } from './attempts.ts';
import { ClusterAccess, type SharedAccess } from './cluster-access.ts';
import { basicOf, keyOf, sessionCookie, sessionOf, tokensOf } from './credentials.ts';
import { Identities, type Proof } from './identities.ts';
import { isKnownBrowser, knownBrowserCookie } from './known-browser.ts';
import { OpenRequests } from './open-requests.ts';
import { isLocal, Origins } from './origin.ts';
import { askForKey, PasswordCheck, refuseAttempt } from './password-check.ts';
import { assertPermitted, type Permission } from './permissions.ts';
import type { Principal } from './principal.ts';
import { SESSION_LIFE_MS, Sessions } from './sessions.ts';
import { assertShortKeyPermitted, type ShortKey, ShortKeys } from './short-keys.ts';
import { type AuditSink, SignInLog } from './sign-in-log.ts';

interface AccessOptions {
  readonly settings: Pick<Settings, 'API_KEYS' | 'ALLOW_ANONYMOUS' | 'PUBLIC_URL' | 'TRUSTED_PROXIES'>;
  readonly people: People;
  /** Null = nothing is kept of who did what. */
  readonly audit: AuditSink | null;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  /** What other gateways know too; absent or null = there are none. */
  readonly shared?: SharedAccess | null;
}

/** What a browser signs in with. */
export type SignInSecret = { readonly key: string } | { readonly name: string; readonly password: string };

/** The access rules, sessions and failed attempts of one server. */
export class Access {
  readonly #settings: AccessOptions['settings'];
  readonly #warnings: AccessWarnings;
  readonly #people: People;
  readonly #origins: Origins;
  readonly #shortKeys: ShortKeys;
  readonly #attempts: Attempts;
  readonly #identities: Identities;
  readonly #sessions: Sessions;
  readonly #signIns: SignInLog;
  readonly #openRequests: OpenRequests;
  readonly #passwords: PasswordCheck;
  /** Null = there are no other gateways. */
  readonly #cluster: ClusterAccess | null;
  readonly #principals = new WeakMap<FastifyRequest, Principal>();
  readonly #proofs = new WeakMap<FastifyRequest, Proof>();
  /** What admitted requests with a key that lives for a short time. */
  readonly #shortKeyed = new WeakMap<FastifyRequest, ShortKey>();

  constructor({ settings, people, audit, clock, log, shared = null }: AccessOptions) {
    this.#settings = settings;
    this.#people = people;
    this.#origins = new Origins(settings);
    this.#warnings = new AccessWarnings({ log, origins: this.#origins });
    this.#shortKeys = new ShortKeys({ clock, clusterKey: shared?.key ?? '' });
    this.#cluster = shared && new ClusterAccess({ clock, shared, refreshUsers: () => people.refresh() });
    this.#attempts = new Attempts({ clock, counts: this.#cluster?.counts ?? null });
    this.#identities = new Identities({ apiKeys: settings.API_KEYS, users: people.users });
    const onStoreFailed = (err: unknown): void => this.#warnings.storeFailed(err);
    this.#sessions = new Sessions({ clock, onStoreFailed, isShared: shared !== null });
    this.#signIns = new SignInLog({ clock, audit });
    this.#openRequests = new OpenRequests({ clock });
    const known = { attempts: this.#attempts, identities: this.#identities, signIns: this.#signIns };
    this.#passwords = new PasswordCheck({ people, ...known });
    this.#cluster?.follow(this.#sessions, () => this.#openRequests.look());
    people.users?.list.onChange(() => this.#openRequests.look());
  }

  /** Takes up the sessions that were open before the start. Never rejects. */
  async restoreSessions(): Promise<void> {
    const store = this.#people.sessions;
    if (store !== null)
      await this.#sessions.restore(store).catch((error: unknown) => this.#warnings.storeFailed(error));
  }

  /** Ends its timers; resolves when the sessions are on disk. */
  async close(): Promise<void> {
    this.#openRequests.close();
    this.#cluster?.close();
    await this.#sessions.settled();
  }

  /** The requests that end with what allowed them. */
  get openRequests(): OpenRequests {
    return this.#openRequests;
  }

  /**
   * To be called first with each request: learns of a session that another gateway has opened, and whether another
   * gateway passes the request on. Null = there is nothing to learn.
   * @throws TrunklineError `cluster_key_invalid`, `too_many_attempts` or `invalid_request`
   */
  prepare(request: FastifyRequest): Promise<void> | null {
    const ofKey = this.#cluster === null ? null : this.#shortKeys.sessionOf(keyOf(request) ?? '');
    return this.#cluster?.prepare(request, ofKey, (isRight) => this.#attempt(request, isRight)) ?? null;
  }

  /** Whether another gateway passes the request on. */
  isForwarded(request: FastifyRequest): boolean {
    return (this.#cluster?.principalOf(request) ?? null) !== null;
  }

  /**
   * Admits a request with a key or a session. Without API_KEYS and users it admits requests from this machine.
   * @throws TrunklineError `api_key_missing`, `invalid_api_key`, `too_many_attempts`, `anonymous_refused` or
   * `users_unreadable`
   */
  admit(request: FastifyRequest): void {
    const forwarded = this.#cluster?.principalOf(request) ?? null;
    if (forwarded !== null) {
      this.#principals.set(request, forwarded);
      return;
    }
    const proof = this.#prove(request);
    const principal = this.#identities.principalOf(proof);
    if (principal === null) askForKey();
    this.#principals.set(request, principal);
    this.#proofs.set(request, proof);
  }

  /** Ends an admitted request when what admitted it holds no longer: its session has ended, or its user has changed. */
  endWithProof(request: FastifyRequest, reply: FastifyReply): void {
    if (this.#proofs.has(request)) this.#openRequests.watch(request, reply, this.#stillHolds(request));
  }

  /**
   * Calls `end`, once, when what admitted the request holds no longer: for what goes on after its answer. Returns what
   * forgets it.
   * @throws Error when {@link admit} has not admitted the request
   */
  endLater(request: FastifyRequest, end: () => void): () => void {
    return this.#openRequests.hold(this.#stillHolds(request), end);
  }

  #stillHolds(request: FastifyRequest): () => boolean {
    const proof = this.#proofs.get(request);
    if (proof === undefined) throw new Error('the request has not been admitted, so nobody knows whose it is');
    const id = this.#sessionIdOf(request);
    return () => {
      if (id !== null && this.#sessions.proofOf(id) === null) return false;
      return this.#identities.principalOf(proof) !== null;
    };
  }

  /** Of the session that admitted the request, or that asked for its short-lived key; null = none did. */
  #sessionIdOf(request: FastifyRequest): string | null {
    return this.hasSession(request) ? sessionOf(request) : (this.#shortKeyed.get(request)?.sessionId ?? null);
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

  /** Whether a session admitted the request, which {@link signOut} would end. */
  hasSession(request: FastifyRequest): boolean {
    const proof = this.#proofs.get(request);
    return proof !== undefined && proof.kind !== 'nobody' && keyOf(request) === null;
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
   * @param shortKeys whether the route says itself what a short-lived key is for
   * @throws TrunklineError `role_refused`
   */
  permit(request: FastifyRequest, permission: Permission, shortKeys = false): Principal {
    const principal = this.principalOf(request);
    if (!shortKeys && this.#shortKeyed.has(request)) assertShortKeyPermitted(permission);
    assertPermitted(principal, permission);
    return principal;
  }

  /**
   * A key that stands for whoever makes the admitted request, for `lifeMs` and on routes for audio and speech alone.
   * @param content a JSON value that {@link shortKeyContent} gives back
   * @throws TrunklineError `invalid_request` when the content is too large
   */
  makeShortKey(request: FastifyRequest, lifeMs: number, content: unknown = null): string {
    const sessionId = this.#sessionIdOf(request);
    const proof = this.#proofs.get(request) ?? { kind: 'nobody' };
    return this.#shortKeys.make({ proof, content, ...(sessionId !== null && { sessionId }) }, lifeMs);
  }

  /**
   * With whom an admitted request shares the places for live audio.
   * @throws Error when {@link admit} has not admitted the request
   */
  listenerOf(request: FastifyRequest): ListenerOwner {
    const { tenant } = this.principalOf(request);
    const shortKey = this.#shortKeyed.has(request) ? this.#shortKeys.idOf(keyOf(request) ?? '') : null;
    return { tenant, shortKey, isAlone: this.#identities.count <= 1 };
  }

  /** What was put into the short-lived key of an admitted request; null = nothing, or it has another key. */
  shortKeyContent(request: FastifyRequest): unknown {
    return this.#shortKeyed.get(request)?.content ?? null;
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
   * machine. `setting` holds the token.
   * @throws TrunklineError `credentials_invalid`, `too_many_attempts` or `anonymous_refused`
   */
  admitToken(request: FastifyRequest, token: string, header?: string, setting = 'CARRIER_TOKEN'): void {
    if (token === '') {
      this.admitAnonymous(request);
      return;
    }
    const given = tokensOf(request, header);
    const isRight = () => isOneOfSecrets(token, given);
    if (given.length > 0 && this.#attempt(request, isRight)) return;
    throw new TrunklineError(
      'credentials_invalid',
      `this endpoint needs ${setting}: as a bearer token, as a password, as ?token= in its URL` +
        (header === undefined ? '' : `, or in the header ${header}`),
    );
  }

  /**
   * Refuses requests that pages of other sites make through a user's browser: WebSockets, and all methods but GET and
   * HEAD. A WebSocket with a key of its own may come from anywhere if its route says so: other sites do not have
   * the user's keys.
   * @throws TrunklineError `origin_refused`
   */
  refuseForeign(request: FastifyRequest): void {
    const isReading = (request.method === 'GET' || request.method === 'HEAD') && !request.ws;
    if (isReading || !this.#origins.isForeign(request)) return;
    const isOpen = request.ws && request.routeOptions.config.fromAnySite === true;
    if (isOpen && this.#identities.isLocked && keyOf(request) !== null) return;
    throw new TrunklineError(
      'origin_refused',
      'a page of another site made the request (Origin), expected an Origin of this server or none',
    );
  }

  /**
   * Exchanges a key, or a name and a password, for a session.
   * @returns the `Set-Cookie` headers, none where no secret is asked for
   * @throws TrunklineError as {@link admit}, and `credentials_invalid`
   */
  async signIn(request: FastifyRequest, secret: SignInSecret): Promise<string[]> {
    if (!this.#identities.isLocked) {
      this.#admitNobody(request);
      return [];
    }
    const { proof, user } =
      'key' in secret
        ? { proof: this.#proveKey(request, secret.key), user: null }
        : await this.#provePassword(request, secret);
    const principal = this.#identities.principalOf(proof);
    if (principal === null) askForKey();
    this.#signIns.note(principal, 'session.opened', this.#origins.clientOf(request));
    const id = this.#sessions.open(proof);
    await this.#cluster?.settled();
    const isSecure = this.#origins.isSecure(request);
    const session = sessionCookie(id, SESSION_LIFE_MS / 1000, isSecure);
    return user === null ? [session] : [session, knownBrowserCookie(user, isSecure)];
  }

  /**
   * Ends the request's session, if it has one, and with `everywhere` all of the same key or name. What they have open
   * ends too. Returns the `Set-Cookie` header that removes the cookie.
   */
  async signOut(request: FastifyRequest, { everywhere = false } = {}): Promise<string> {
    const id = sessionOf(request);
    const proof = this.#sessions.proofOf(id);
    const principal = proof === null ? null : this.#identities.principalOf(proof);
    const ended = everywhere && proof !== null ? this.#sessions.endAll(proof) : this.#sessions.end(id);
    this.#openRequests.look();
    if (principal !== null)
      this.#signIns.note(principal, everywhere ? 'sessions.ended' : 'session.ended', this.#origins.clientOf(request));
    await (this.#cluster?.settled() ?? ended);
    return sessionCookie('', 0, this.#origins.isSecure(request));
  }

  /** Throws as {@link admit}. */
  #prove(request: FastifyRequest): Proof {
    const short = this.#shortKeys.read(keyOf(request) ?? '');
    if (short !== null) this.#shortKeyed.set(request, short);
    if (!this.#identities.isLocked) {
      this.#admitNobody(request);
      return { kind: 'nobody' };
    }
    const key = keyOf(request);
    if (short?.sessionId !== undefined && this.#sessions.proofOf(short.sessionId) === null) {
      this.#cluster?.refuseUnknown(request);
      throw new TrunklineError('invalid_api_key', 'the session that asked for the key has ended; ask for another one');
    }
    if (key !== null) return short?.proof ?? this.#proveKey(request, key);
    const proof = this.#sessions.proofOf(sessionOf(request));
    if (proof !== null) return proof;
    this.#cluster?.refuseUnknown(request);
    return askForKey();
  }

  /** Throws `anonymous_refused` or `users_unreadable`. */
  #admitNobody(request: FastifyRequest): void {
    this.admitAnonymous(request);
    if (!this.#people.areUnreadable) return;
    throw new TrunklineError(
      'users_unreadable',
      'the users in DATA_DIR cannot be read, so nobody can sign in, and nobody gets in without; the log has the ' +
        'reason. They are read when that is mended, or at the next start; with API_KEYS its keys get in',
    );
  }

  /** Whose key it is. Throws `invalid_api_key` or `too_many_attempts`. */
  #proveKey(request: FastifyRequest, key: string): Proof {
    let proof: Proof | null = null;
    const isRight = () => {
      proof = this.#identities.proofOfKey(key);
      return proof !== null;
    };
    if (this.#attempt(request, isRight) && proof !== null) return proof;
    this.#signIns.refuse(null, this.#origins.clientOf(request));
    throw new TrunklineError('invalid_api_key', "the key is not one of API_KEYS, nor a user's");
  }

  #provePassword(request: FastifyRequest, given: { name: string; password: string }) {
    this.#warnings.untrustedProxy(request);
    return this.#passwords.prove(this.#origins.clientOf(request), given, (user) => isKnownBrowser(request, user));
  }

  /**
   * Whether the request's secret is right. Counts wrong ones. Throws `too_many_attempts` when there were too many.
   */
  #attempt(request: FastifyRequest, isRight: () => boolean): boolean {
    this.#warnings.untrustedProxy(request);
    const outcome = this.#attempts.attempt(this.#origins.clientOf(request), isRight);
    if (outcome !== 'refused') return outcome === 'right';
    return refuseAttempt();
  }
}
