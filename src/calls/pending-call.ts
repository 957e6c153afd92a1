/**
 * A carrier's socket up to `start`, held to its limits by the leg. `start` says who it is; with a good token, where one
 * is required, it becomes a call, and this steps aside. Every failure before that ends here: with a coded close, a
 * counter and a log line.
 */

import { type ErrorCode, TrunklineError } from '../foundation/errors.ts';
import { type MaybePromise, whenReady } from '../foundation/maybe-promise.ts';
import { CALL_DETAILS, type CallDetails, type CallStart, type CarrierEvent } from '../protocols/dialect.ts';
import { HeldEvents } from './admission/held-events.ts';
import type { CallTokens, KnownCall } from './admission/tokens.ts';
import { callParameter, withoutForbiddenApp } from './app/request.ts';
import type { Call, CallOptions } from './call.ts';
import type { CallSummary } from './call-summary.ts';
import type { CallContext } from './context.ts';
import type { EndReason } from './feed/events.ts';
import type { CallLeg, LegEnd, LegHandlers, SipAnswer } from './leg.ts';
import { LegHandover } from './leg-handover.ts';
import { LegMonitor } from './leg-monitor.ts';

/** Printable ASCII without spaces: an id goes into URLs, log lines and the feed. */
const ID = /^[!-~]{1,128}$/;
/** As long as a SIP address may reasonably be. */
export const PARTY_MAX_CHARS = 256;

/** What a pending call needs of its registry, and how it tells it what became of the socket. */
export interface PendingCallOptions {
  readonly carrier: string;
  /** Whether `start` must bring the one-use token of the webhook. */
  readonly tokenRequired: boolean;
  /**
   * Whether the peer that opened the socket has shown a secret of ours. Then it asks on the operator's behalf.
   */
  readonly trusted?: boolean;
  /** The flow that whoever opened the socket asks for; a parameter of the call goes before it. */
  readonly flow?: string | undefined;
  readonly tokens: CallTokens;
  readonly context: CallContext;
  /** The start with what was announced of its call; left out = nothing is announced. Must not reject. */
  readonly complete?: ((start: CallStart) => MaybePromise<CallStart>) | undefined;
  /** Opens the leg on the socket. */
  connect(handlers: LegHandlers): CallLeg;
  /**
   * Chooses the id of the call that `start` announces. No promise where nobody else gives ids. Throws or rejects with a
   * TrunklineError when there may be no such call.
   */
  claim(start: CallStart, pendingCall: PendingCall): MaybePromise<ClaimedCall>;
  /** Makes a call that was claimed. Throws a TrunklineError when it may not be. */
  open(opened: Pick<CallOptions, 'start' | 'leg' | 'monitor'> & ClaimedCall, pendingCall: PendingCall): Call;
  /** There will be no such call after all. */
  release(claimed: ClaimedCall): void;
  /** The socket closed without ever becoming a call. */
  onGone(pendingCall: PendingCall, gone: ArrivalEnd): void;
}

/** Why an arrival never became a call. */
export interface ArrivalEnd {
  readonly reason: EndReason;
  /** What it was refused for; null = it was not. */
  readonly error: ErrorCode | null;
  /** What a SIP peer answered to our call; null = nothing, or the call is another. */
  readonly sip: SipAnswer | null;
}

/** What a call will be called, and what is known of it. */
export interface ClaimedCall {
  readonly id: string;
  readonly summary: CallSummary;
}

export class PendingCall implements LegHandlers {
  readonly #options: PendingCallOptions;
  readonly #handover = new LegHandover(this);
  readonly #monitor: LegMonitor;
  readonly #leg: CallLeg;
  /** When its socket came, by the clock. */
  readonly sinceMs: number;
  /** Sound and keys before `start`, and whatever comes while other gateways are asked. */
  readonly #held = new HeldEvents();
  #isClaiming = false;
  #over = false;

  constructor(options: PendingCallOptions) {
    const { carrier, context } = options;
    this.#options = options;
    this.sinceMs = context.clock.nowMs();
    this.#monitor = new LegMonitor({ carrier, context });
    this.#leg = options.connect(this.#handover);
  }

  /** Whether a call came of it, or its socket is closed or being closed. */
  get over(): boolean {
    return this.#over;
  }

  /** Closes the socket with the error's close code. */
  fail(error: unknown): void {
    if (this.#over) return;
    const coded = this.#monitor.noteFailure(error);
    this.#leg.fail(coded);
    this.#giveUp(coded.code === 'draining' ? 'drained' : 'error', coded.code);
  }

  /** Ends a call of ours that nobody has answered yet. */
  giveUp(): void {
    if (this.#over) return;
    this.#leg.close(1000, 'given up');
    this.#giveUp('api');
  }

  /** One event of the carrier, up to `start`. */
  onEvent(event: CarrierEvent): void {
    if (this.#over) return;
    try {
      if (this.#isClaiming || event.type === 'audio' || event.type === 'dtmf') {
        this.#held.add(event, this.#options.context.clock.nowMs());
        return;
      }
      this.#monitor.countMessage(event);
      if (event.type === 'start') this.#begin(event.start);
      else if (event.type === 'stop') this.#leave();
    } catch (error) {
      this.fail(error);
    }
  }

  /** The socket closed before `start`. */
  onClosed(end: LegEnd): void {
    if (this.#over) return;
    if (this.#isClaiming) {
      this.#held.close(end);
      return;
    }
    this.#monitor.noteClosed(end);
    this.#giveUp(end.reason, end.code, end.sip);
  }

  #leave(): void {
    this.#leg.close(1000, 'stopped before it started');
    this.#giveUp('closed');
  }

  #giveUp(reason: EndReason, error: ErrorCode | null = null, sip: SipAnswer | null = null): void {
    this.#over = true;
    this.#options.onGone(this, { reason, error, sip });
  }

  #begin(given: CallStart): void {
    checkNames(given);
    const { complete, claim } = this.#options;
    const started = whenReady(complete?.(given) ?? given, (start) =>
      whenReady(this.#redeem(start), (known) => this.#identify(start, known)),
    );
    const claimed = whenReady(started, (start) => whenReady(claim(start, this), (call) => ({ start, call })));
    if (!(claimed instanceof Promise)) {
      this.#open(claimed.start, claimed.call);
      return;
    }
    // Only where several gateways share what they know: what comes meanwhile waits, also the end of the socket.
    this.#isClaiming = true;
    claimed.then(({ start, call }) => this.#openLate(start, call)).catch((error: unknown) => this.fail(error));
  }

  #openLate(start: CallStart, claimed: ClaimedCall): void {
    if (this.#over) this.#options.release(claimed);
    else this.#open(start, claimed);
  }

  /** From here on the leg tells the call itself. Its time begins with its first sound. */
  #open(given: CallStart, claimed: ClaimedCall): void {
    const { context, open } = this.#options;
    const nowMs = context.clock.nowMs();
    const { soundSinceMs } = this.#held;
    const start = soundSinceMs === null ? given : { ...given, soundForMs: nowMs - soundSinceMs };
    const call = open({ start, leg: this.#leg, monitor: this.#monitor, ...claimed }, this);
    this.#over = true;
    this.#handover.handOver(call);
    call.begin();
    this.#held.tell(call, nowMs);
  }

  #redeem({ parameters: { token }, callId }: CallStart): MaybePromise<KnownCall | null> {
    return token === undefined ? null : this.#options.tokens.redeem(token, callId);
  }

  /**
   * The start without its token and without an app that it may not ask for; with what the webhook told of the call when
   * the token is good.
   */
  #identify(start: CallStart, known: KnownCall | null): CallStart {
    const { token, ...own } = start.parameters;
    if (known === null && this.#options.tokenRequired) {
      const wrong = 'a call token that is unknown, used, expired or of another call';
      throw new TrunklineError(
        'call_token_invalid',
        `got ${token === undefined ? 'no call token' : wrong}, ` +
          'expected the one that /twilio/voice gave for this call',
      );
    }
    const given = withFlow(own, known?.flow ?? this.#options.flow);
    const details = { ...boundDetails(given), ...boundDetails(start.details ?? {}), ...known?.details };
    const { flow: _flow, ...told } = known ?? {};
    return { ...start, ...told, details, parameters: this.#checkApp(given, known !== null) };
  }

  /** A stream with a token is trusted if the webhook that issued the token was signed. */
  #checkApp(given: CallStart['parameters'], hasToken: boolean): CallStart['parameters'] {
    const { settings, log } = this.#options.context;
    const trusted = this.#options.trusted === true || (hasToken && settings.TWILIO_AUTH_TOKEN !== '');
    const parameters = withoutForbiddenApp(given, trusted, settings);
    if (Object.keys(parameters).length < Object.keys(given).length) {
      log.warn(
        { carrier: this.#options.carrier },
        'a stream asked for an app or for TwiML that APP_ALLOWED_ORIGINS does not allow',
      );
    }
    return parameters;
  }
}

function withFlow(own: CallStart['parameters'], flow: string | undefined): CallStart['parameters'] {
  return flow === undefined || callParameter(own, 'flow') !== undefined ? own : { ...own, flow };
}

/** Those that are told. A dialplan or TwiML may tell, as parameters, what the carrier's own messages do not. */
function boundDetails(told: Readonly<Record<string, string>>): CallDetails {
  const entries = CALL_DETAILS.map((name) => [name, told[name]?.slice(0, PARTY_MAX_CHARS)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== ''));
}

function checkNames(start: CallStart): void {
  for (const [name, value] of [
    ['call id', start.callId],
    ['stream id', start.streamId],
  ] as const) {
    if (!ID.test(value)) {
      throw new TrunklineError(
        'message_malformed',
        `got a ${name} of ${value.length} characters, expected 1 to 128 printable ones without spaces`,
      );
    }
  }
  for (const party of [start.from, start.to]) {
    if ((party?.length ?? 0) > PARTY_MAX_CHARS) {
      throw new TrunklineError(
        'message_malformed',
        `got a from or to of ${party?.length} characters, expected at most ${PARTY_MAX_CHARS}`,
      );
    }
  }
}
