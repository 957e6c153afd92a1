/** Keeps us registered, so that the registrar sends us the calls for our user (RFC 3261 §10). */
import { randomUUID } from 'node:crypto';
import type { IncomingResponse, IncomingResponseMessage, OutgoingRequestMessage, URI } from 'sip.js/lib/core/index.js';
import { Backoff } from '../../foundation/backoff.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { EXPIRES_MAX_S, grantedIn } from './granted-time.ts';
import { isOurOwn } from './own-answers.ts';
import { RegistrarWatch } from './registrar-watch.ts';
import type { SipStack } from './stack.ts';
import type { SipDestination } from './wire/uris.ts';

const EXPIRES_S = 600;
/** A registration is refreshed after this share of its time, and at least this long before it expires. */
const REFRESH_SHARE = 0.75;
const REFRESH_MIN_S = 20;
/** For a registrar that does not answer OPTIONS, REGISTER at this interval shows whether it is available. */
const MUTE_REFRESH_S = 240;
/** How long we wait for the answer to a REGISTER (64 × T1). */
const ANSWER_TIMEOUT_MS = 32_000;
/** A registration that lasted this long was healthy: when it is lost, we try again at once. */
const HEALTHY_MS = 30_000;
const RETRIES = { firstMs: 5000, longestMs: 60_000, healthyMs: HEALTHY_MS, jitterShare: 0.25 };
/** How often in a row we accept a longer minimum interval from the registrar. */
const RAISES_MAX = 5;
/** After a refusal we wait long: a wrong password stays wrong, and some registrars lock out those who try often. */
const REFUSED_RETRY_MS = 300_000;

/**
 * Why we are not registered: `refused` = the registrar refused us, `unreachable` = no answer or a server error, `lost`
 * = we were registered and no longer are.
 */
export type RegistrationFailure = 'refused' | 'unreachable' | 'lost';

interface RegistrationOptions {
  readonly stack: SipStack;
  readonly registrar: URI;
  readonly user: string;
  /** Route headers of requests to the registrar, and the port that they go to. */
  readonly route: readonly string[];
  readonly port: number;
  /** What the operator should look at after a refusal. */
  readonly refusalHint: string;
  readonly clock: Clock;
  readonly log: Log;
  /** A request is about to be sent. */
  onRequest(message: OutgoingRequestMessage): void;
  /** Whether we are registered now. */
  onChange(registered: boolean): void;
  onFailure(reason: RegistrationFailure): void;
  /** Numbers from 0 to 1, below 1. */
  readonly random?: () => number;
}

/** How a REGISTER failed. */
interface Failure {
  readonly reason: RegistrationFailure;
  /** The reason as the log has it. */
  readonly trouble: string;
  /** The status of the answer; 408 if there was none. */
  readonly status?: number | undefined;
  readonly hint?: string | undefined;
  readonly notBeforeMs?: number;
}

/** A REGISTER that waits for its answer. */
interface Attempt {
  readonly expiresS: number;
  timeout: Timer | null;
}

export class Registration {
  readonly #options: RegistrationOptions;
  readonly #watch: RegistrarWatch;
  /** The same for all REGISTERs, so that the registrar can tell a refresh from another phone (RFC 3261 §10.2.4). */
  readonly #callId = randomUUID();
  /** The latest REGISTER. sip.js raises its CSeq when it sends it again with credentials. */
  #last: OutgoingRequestMessage | null = null;
  #attempt: Attempt | null = null;
  #expiresS = EXPIRES_S;
  /** How often in a row the registrar refused our interval as too brief. */
  #raises = 0;
  readonly #backoff: Backoff;
  #timer: Timer | null = null;
  /** Since when we are registered; null = we are not. */
  #sinceMs: number | null = null;
  /** Until when the registrar may still have our registration, even if we consider it lost. */
  #boundUntilMs = 0;
  /** The address from which the last answer came. */
  #registrarAt: SipDestination | null = null;
  /** Failures that were logged as warnings. */
  readonly #logged = new Set<string>();
  /** Whether a failure was logged as a warning since the last "registered". */
  #hasNews = true;
  #ending = false;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    const { random } = options;
    this.#backoff = new Backoff(random === undefined ? RETRIES : { ...RETRIES, random });
    this.#watch = new RegistrarWatch({
      clock: options.clock,
      ask: (onAnswer) => this.#ask(onAnswer),
      ping: () => this.#ping(),
      onSilent: () => this.#silent(),
      onMute: () =>
        options.log.info('the registrar does not answer OPTIONS: only REGISTER shows whether it is available'),
      onForgotten: () => this.#forgotten(),
    });
  }

  get registered(): boolean {
    return this.#sinceMs !== null;
  }

  start(): void {
    this.#register(this.#expiresS);
  }

  /**
   * Unregisters, and does not register again. Does nothing if the registrar does not know us. If a REGISTER is under
   * way, unregisters when it is answered.
   */
  end(): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#timer?.cancel();
    this.#watch.stop();
    this.#setRegistered(false);
    if (this.#attempt === null && this.#boundUntilMs > this.#options.clock.nowMs()) this.#register(0);
  }

  /**
   * A connection that we had opened is closed. If it led to the registrar, the registrar cannot call us on it any more
   * and may have removed our registration, as Asterisk does.
   */
  connectionClosed(peer: SipDestination): void {
    if (this.#ending || !this.#isRegistrar(peer)) return;
    if (this.registered) this.#lost('the connection to the registrar was closed');
    else if (this.#attempt !== null && this.#settles(this.#attempt)) {
      this.#failed({ reason: 'unreachable', trouble: 'the registrar closed the connection' });
    }
  }

  /** A peer has asked by OPTIONS whether we are available. */
  asked(address: string): void {
    if (address === this.#registrarAt?.host) this.#watch.asked();
  }

  #register(expiresS: number): void {
    const { stack, clock } = this.#options;
    this.#timer?.cancel();
    this.#attempt?.timeout?.cancel();
    const attempt: Attempt = { expiresS, timeout: null };
    this.#attempt = attempt;
    attempt.timeout = clock.after(ANSWER_TIMEOUT_MS, () => this.#unanswered(attempt), true);
    const { message, contact } = this.#request(expiresS);
    stack.core.register(message, {
      onAccept: ({ message: answer }) => {
        if (this.#settles(attempt)) this.#accepted(answer, expiresS, grantedIn(answer, contact, expiresS));
      },
      onReject: (response) => {
        if (this.#settles(attempt)) this.#rejected(response);
      },
      onRedirect: (response) => {
        if (this.#settles(attempt)) this.#rejected(response);
      },
    });
  }

  #request(expiresS: number): { message: OutgoingRequestMessage; contact: URI } {
    const { stack, registrar, user, route, onRequest } = this.#options;
    const aor = this.#aor();
    const contact = stack.contactAs(registrar.scheme === 'sips' ? 'sips' : 'sip').clone();
    contact.user = user;
    const cseq = (this.#last?.cseq ?? 0) + 1;
    const message = stack.core.makeOutgoingRequestMessage(
      'REGISTER',
      registrar,
      aor,
      aor,
      { callId: this.#callId, cseq, routeSet: [...route] },
      [`Contact: <${contact.toString()}>;expires=${expiresS}`, `Expires: ${expiresS}`],
    );
    this.#last = message;
    onRequest(message);
    return { message, contact };
  }

  /** Our address of record at the registrar. */
  #aor(): URI {
    const { registrar, user } = this.#options;
    const aor = registrar.clone();
    aor.user = user;
    aor.clearParams();
    return aor;
  }

  /** Ends the wait for an answer. Returns false if `attempt` is not the one that we wait for. */
  #settles(attempt: Attempt): boolean {
    if (this.#attempt !== attempt) return false;
    attempt.timeout?.cancel();
    this.#attempt = null;
    return true;
  }

  #unanswered(attempt: Attempt): void {
    if (this.#settles(attempt)) this.#notAnswered();
  }

  /**
   * A dead connection must not be used again: the operating system may need a quarter of an hour to give it up.
   */
  #notAnswered(): void {
    if (this.#registrarAt !== null) this.#options.stack.disconnect(this.#registrarAt);
    this.#failed({ reason: 'unreachable', trouble: 'the registrar does not answer', status: 408 });
  }

  #accepted(answer: IncomingResponseMessage, askedS: number, grantedS: number): void {
    const { log, clock, stack } = this.#options;
    this.#boundUntilMs = askedS === 0 ? 0 : clock.nowMs() + grantedS * 1000;
    if (this.#ending) {
      if (askedS > 0) this.#register(0);
      return;
    }
    this.#raises = 0;
    if (grantedS === 0) {
      this.#failed({
        reason: 'refused',
        trouble: 'the registrar granted no time (Expires: 0)',
        status: answer.statusCode,
      });
      return;
    }
    const { address, port } = stack.envelopeOf(answer).source;
    if (this.#registrarAt !== null && this.#registrarAt.host !== address)
      log.info({ address }, 'the address of the registrar changed');
    this.#registrarAt = { host: address, port };
    if (!this.registered) this.#logRegistered(grantedS);
    this.#setRegistered(true);
    const longestS = this.#watch.isMute ? MUTE_REFRESH_S : EXPIRES_MAX_S;
    const refreshS = Math.max(Math.min(grantedS * REFRESH_SHARE, grantedS - REFRESH_MIN_S), grantedS / 2, 1);
    this.#again(Math.min(refreshS, longestS) * 1000);
  }

  #rejected({ message }: IncomingResponse): void {
    const status = message.statusCode ?? 500;
    const minimumS = Number(message.getHeader('min-expires') ?? 0);
    const isLonger = minimumS > this.#expiresS && minimumS <= EXPIRES_MAX_S;
    if (!this.#ending && status === 423 && isLonger && this.#raises < RAISES_MAX) {
      this.#raises++;
      this.#expiresS = Math.ceil(minimumS);
      this.#again(0);
      return;
    }
    if (isOurOwn(message)) {
      if (status === 408) this.#notAnswered();
      else this.#failed({ reason: 'unreachable', trouble: 'the registrar cannot be reached', status });
      return;
    }
    const isRefused = status === 401 || status === 403 || status === 404 || status === 407;
    const retryAfterMs = Number(/^\d{1,5}/.exec(message.getHeader('retry-after') ?? '')?.[0] ?? 0) * 1000;
    this.#failed({
      reason: isRefused ? 'refused' : 'unreachable',
      trouble: `the registrar answered ${status}`,
      status,
      ...(isRefused ? { hint: this.#options.refusalHint } : {}),
      notBeforeMs: Math.max(isRefused ? REFUSED_RETRY_MS : 0, retryAfterMs),
    });
  }

  #failed(failure: Failure): void {
    if (this.#ending) return;
    const { reason, trouble, status, hint, notBeforeMs = 0 } = failure;
    const delayMs = Math.max(this.#backoff.next(this.#healthyForMs), notBeforeMs);
    this.#logTrouble({ trouble, status, hint, delayMs });
    this.#setRegistered(false);
    this.#options.onFailure(reason);
    this.#again(delayMs);
  }

  /**
   * The registration was lost. A healthy one is renewed at once; one that is lost again and again waits as after other
   * failures.
   */
  #lost(trouble: string): void {
    const isHealthy = this.#healthyForMs >= HEALTHY_MS;
    if (isHealthy) this.#backoff.restart();
    const delayMs = isHealthy ? 0 : this.#backoff.next(0);
    this.#logTrouble({ trouble, delayMs });
    this.#setRegistered(false);
    this.#options.onFailure('lost');
    this.#attempt?.timeout?.cancel();
    this.#attempt = null;
    this.#again(delayMs);
  }

  /** The registrar answered OPTIONS before and no longer does. A dead connection must not be used again. */
  #silent(): void {
    if (this.#registrarAt !== null) this.#options.stack.disconnect(this.#registrarAt);
    this.#lost('the registrar no longer answers OPTIONS');
  }

  /**
   * The registrar stopped sending OPTIONS. It may have lost our registration, or only be configured differently now.
   * Registering again is right in both cases.
   */
  #forgotten(): void {
    this.#options.log.info('the registrar stopped sending OPTIONS: registering again');
    if (this.#attempt === null) this.#register(this.#expiresS);
  }

  #again(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(delayMs, () => this.#register(this.#expiresS), true);
  }

  #ask(onAnswer: () => void): void {
    const { stack, registrar } = this.#options;
    const message = stack.core.makeOutgoingRequestMessage('OPTIONS', registrar, this.#aor(), registrar, {
      routeSet: [...this.#options.route],
    });
    // Any answer, even a refusal, shows that the registrar is available.
    const receive = ({ message: answer }: IncomingResponse): void => {
      if (!isOurOwn(answer)) onAnswer();
    };
    stack.core.request(message, { onAccept: receive, onReject: receive, onRedirect: receive });
  }

  #ping(): void {
    if (this.#registrarAt !== null) this.#options.stack.ping(this.#registrarAt);
  }

  #isRegistrar({ host, port }: SipDestination): boolean {
    if (this.#registrarAt !== null && this.registered)
      return this.#registrarAt.host === host && this.#registrarAt.port === port;
    // Before the first answer we know only the registrar's port.
    return port === this.#options.port;
  }

  get #healthyForMs(): number {
    return this.#sinceMs === null ? 0 : this.#options.clock.nowMs() - this.#sinceMs;
  }

  /** Logs each failure once as a warning, until the registration has been healthy again for a while. */
  #logTrouble({
    trouble,
    status,
    hint,
    delayMs,
  }: Omit<Failure, 'reason' | 'notBeforeMs'> & { readonly delayMs: number }): void {
    if (this.#healthyForMs >= HEALTHY_MS) this.#logged.clear();
    const isNews = !this.#logged.has(trouble);
    this.#logged.add(trouble);
    this.#hasNews ||= isNews;
    this.#options.log[isNews ? 'warn' : 'debug'](
      { status, hint, againInMs: Math.round(delayMs) },
      `not registered: ${trouble}`,
    );
  }

  #logRegistered(expiresS: number): void {
    this.#options.log[this.#hasNews ? 'info' : 'debug']({ expiresS }, 'registered');
    this.#hasNews = false;
  }

  #setRegistered(registered: boolean): void {
    if (registered === this.registered) return;
    this.#sinceMs = registered ? this.#options.clock.nowMs() : null;
    if (registered) this.#watch.start();
    else this.#watch.stop();
    this.#options.onChange(registered);
  }
}
