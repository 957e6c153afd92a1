/**
 * Whether a trunk is there. Where we do not register we ask it by OPTIONS; calls and registrations show it, too. One
 * that is down is tried after all others.
 */
import { type IncomingResponse, URI } from 'sip.js/lib/core/index.js';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { isOurOwn } from './own-answers.ts';
import { ANSWER_TIMEOUT_MS, KEEPALIVE_MS } from './registrar-watch.ts';
import type { SipStack } from './stack.ts';
import { routeOver, type SipTrunk, uriAt } from './trunk-list.ts';

/** A trunk that answers no OPTIONS counts as down for so long after a call in vain. */
const DOUBTED_MS = 60_000;
/** "I take no calls now", as Trunkline itself says it to OPTIONS. */
const UNAVAILABLE = 503;

interface TrunkWatchOptions {
  readonly trunk: SipTrunk;
  readonly clock: Clock;
  readonly log: Log;
  /** What is known of it has changed. */
  onChange(isUp: boolean): void;
}

export class TrunkWatch {
  readonly #options: TrunkWatchOptions;
  /** Null = nothing is known. */
  #isUp: boolean | null = null;
  /** Until when it counts as down; infinite = until it answers. */
  #downUntilMs = 0;
  /** Whether it has ever answered OPTIONS. */
  #answersOptions = false;
  #isMuteTold = false;
  #keepalive: Timer | null = null;
  #answer: Timer | null = null;

  constructor(options: TrunkWatchOptions) {
    this.#options = options;
  }

  /** Whether others are to be tried first. */
  get isDown(): boolean {
    return this.#isUp === false && this.#options.clock.nowMs() < this.#downUntilMs;
  }

  /** Asks by OPTIONS from now on, over the transport of the trunk. Asked again, it does nothing. */
  ask(stack: SipStack): void {
    if (this.#keepalive !== null) return;
    this.#keepalive = this.#options.clock.every(KEEPALIVE_MS, () => this.#ask(stack), true);
    this.#ask(stack);
  }

  /** A call or a registration has found the trunk there, or not. */
  note(sign: 'answered' | 'silent'): void {
    if (sign === 'answered') this.#up();
    else this.#down('it does not answer', this.#answersOptions ? Number.POSITIVE_INFINITY : DOUBTED_MS);
  }

  close(): void {
    this.#keepalive?.cancel();
    this.#answer?.cancel();
  }

  #ask(stack: SipStack): void {
    const { trunk, clock } = this.#options;
    if (this.#answer !== null) return;
    const waiting = clock.after(ANSWER_TIMEOUT_MS, () => this.#miss(), true);
    this.#answer = waiting;
    const target = uriAt(trunk.server, null);
    const own = stack.contactAs(trunk.server.scheme).clone();
    if (trunk.user !== '') own.user = trunk.user;
    const from = new URI(own.scheme, own.user ?? '', own.host, own.port);
    const message = stack.core.makeOutgoingRequestMessage('OPTIONS', target, from, target, {
      routeSet: routeOver(trunk),
    });
    const receive = ({ message: answer }: IncomingResponse): void => {
      if (this.#answer === waiting) this.#receive(answer.statusCode ?? 500, isOurOwn(answer));
    };
    stack.core.request(message, { onAccept: receive, onReject: receive, onRedirect: receive });
  }

  #receive(status: number, isOwn: boolean): void {
    this.#answer?.cancel();
    this.#answer = null;
    if (isOwn) {
      this.#down('it cannot be reached', Number.POSITIVE_INFINITY);
      return;
    }
    this.#answersOptions = true;
    // Any other answer, even a refusal, shows that somebody is there.
    if (status === UNAVAILABLE) this.#down(`it answers OPTIONS with ${status}`, Number.POSITIVE_INFINITY);
    else this.#up();
  }

  #miss(): void {
    this.#answer = null;
    if (this.#answersOptions) {
      this.#down('it does not answer OPTIONS any more', Number.POSITIVE_INFINITY);
      return;
    }
    if (this.#isMuteTold) return;
    this.#isMuteTold = true;
    const { log, trunk } = this.#options;
    log.info({ trunk: trunk.name }, 'a SIP trunk does not answer OPTIONS: only calls show whether it is there');
  }

  #up(): void {
    this.#downUntilMs = 0;
    if (this.#isUp === true) return;
    const { log, trunk, onChange } = this.#options;
    if (this.#isUp === false) log.info({ trunk: trunk.name }, 'a SIP trunk is there again');
    this.#isUp = true;
    onChange(true);
  }

  #down(why: string, forMs: number): void {
    this.#downUntilMs = this.#options.clock.nowMs() + forMs;
    if (this.#isUp === false) return;
    const { log, trunk, onChange } = this.#options;
    this.#isUp = false;
    log.warn({ trunk: trunk.name }, `a SIP trunk is down: ${why}. Calls try others first`);
    onChange(false);
  }
}
