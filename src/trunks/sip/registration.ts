/** Keeps us registered, so that calls for our user are sent to us (RFC 3261 §10). */
import { randomUUID } from 'node:crypto';
import type { IncomingResponse, IncomingResponseMessage, OutgoingRequestMessage, URI } from 'sip.js/lib/core/index.js';
import type { Clock, Timer } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { SipStack } from './stack.ts';

const EXPIRES_S = 600;
const EXPIRES_MAX_S = 86_400;
/** Refreshed when this share of the time is over, and at least so long before its end. */
const REFRESH_SHARE = 0.75;
const REFRESH_MIN_S = 20;
/** After a failure, doubling. A wrong password does not get right by trying, and some lock out who tries often. */
const RETRY_FIRST_MS = 5000;
const RETRY_LONGEST_MS = 600_000;
const REFUSED_RETRY_MS = 300_000;

interface RegistrationOptions {
  readonly stack: SipStack;
  readonly registrar: URI;
  readonly user: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether we are registered now. */
  onChange(registered: boolean): void;
}

export class Registration {
  readonly #options: RegistrationOptions;
  /** One for all: that is how a registrar tells a refresh from another phone (RFC 3261 §10.2.4). */
  readonly #callId = randomUUID();
  /** Credentials count it on by themselves. */
  #last: OutgoingRequestMessage | null = null;
  #expiresS = EXPIRES_S;
  #retryMs = RETRY_FIRST_MS;
  #timer: Timer | null = null;
  #registered = false;
  #ending = false;

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  get registered(): boolean {
    return this.#registered;
  }

  start(): void {
    this.#register(this.#expiresS);
  }

  /** Unregisters, and does not register again. Nothing when we are not registered. */
  end(): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#timer?.cancel();
    if (this.#registered) this.#register(0);
    this.#setRegistered(false);
  }

  #register(expiresS: number): void {
    const { stack, registrar, user } = this.#options;
    const aor = registrar.clone();
    aor.user = user;
    aor.clearParams();
    const contact = stack.contact.clone();
    contact.user = user;
    const cseq = (this.#last?.cseq ?? 0) + 1;
    const message = stack.core.makeOutgoingRequestMessage('REGISTER', registrar, aor, aor, { callId: this.#callId, cseq }, [
      `Contact: <${contact.toString()}>;expires=${expiresS}`,
      `Expires: ${expiresS}`,
    ]);
    this.#last = message;
    stack.core.register(message, {
      onAccept: ({ message: answer }) => this.#accepted(grantedIn(answer, contact, expiresS)),
      onReject: (response) => this.#rejected(response),
      onRedirect: (response) => this.#rejected(response),
    });
  }

  #accepted(grantedS: number): void {
    if (this.#ending) return;
    this.#retryMs = RETRY_FIRST_MS;
    if (!this.#registered) this.#options.log.info({ expiresS: grantedS }, 'registered');
    this.#setRegistered(true);
    const refreshS = Math.max(Math.min(grantedS * REFRESH_SHARE, grantedS - REFRESH_MIN_S), grantedS / 2, 1);
    this.#again(refreshS * 1000);
  }

  #rejected({ message }: IncomingResponse): void {
    if (this.#ending) return;
    const status = message.statusCode ?? 500;
    const minimumS = Number(message.getHeader('min-expires') ?? 0);
    if (status === 423 && minimumS > this.#expiresS && minimumS <= EXPIRES_MAX_S) {
      this.#expiresS = minimumS;
      this.#again(0);
      return;
    }
    const isRefused = status === 401 || status === 403 || status === 404 || status === 407;
    this.#options.log.warn({ status, hint: isRefused ? 'SIP_USER or SIP_PASSWORD' : undefined }, 'not registered');
    this.#setRegistered(false);
    const askedMs = Number(/^\d{1,5}/.exec(message.getHeader('retry-after') ?? '')?.[0] ?? 0) * 1000;
    this.#again(Math.max(isRefused ? REFUSED_RETRY_MS : this.#retryMs, askedMs));
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_LONGEST_MS);
  }

  #again(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(delayMs, () => this.#register(this.#expiresS), true);
  }

  #setRegistered(registered: boolean): void {
    if (registered === this.#registered) return;
    this.#registered = registered;
    this.#options.onChange(registered);
  }
}

/** What the registrar granted: at our own among the contacts that it knows, or for all, or as asked (RFC 3261 §10.3). */
function grantedIn(answer: IncomingResponseMessage, { user, host, port }: URI, askedS: number): number {
  const ours = answer.getHeaders('contact').find((contact) => contact.includes(`${user}@${host}:${port}`));
  const ofContact = /;\s*expires\s*=\s*"?(\d{1,9})/i.exec(ours ?? '')?.[1];
  const granted = Number(ofContact ?? answer.getHeader('expires') ?? askedS);
  return granted > 0 ? Math.min(granted, EXPIRES_MAX_S) : askedS;
}
