/**
 * A carrier's socket and whatever becomes of it. Until `start` it is a stranger, held to its limits by the leg; `start`
 * shows who it is, and with a good token (where one is asked for) a call comes of it. Every failure on this socket ends
 * here: coded close, counter, log line, end of this call.
 */

import { asTrunklineError, type ErrorCode, TrunklineError } from '../foundation/errors.ts';
import { CALL_DETAILS, type CallDetails, type CallStart, type CarrierEvent } from '../protocols/dialect.ts';
import type { CallTokens } from './admission/tokens.ts';
import { withoutStrangeApp } from './app/request.ts';
import type { Call } from './call.ts';
import type { CallContext } from './context.ts';
import type { EndReason } from './feed/events.ts';
import type { CallLeg, LegEnd, LegHandlers } from './leg.ts';

/** Printable ASCII without spaces: an id goes into URLs, log lines and the feed. */
const ID = /^[!-~]{1,128}$/;
/** As long as a SIP address may reasonably be. */
export const PARTY_MAX_CHARS = 256;

/** What an arrival needs of its registry, and how it tells it what became of the socket. */
export interface PendingCallOptions {
  readonly carrier: string;
  /** Whether `start` must bring the one-use token of the webhook. */
  readonly tokenRequired: boolean;
  /**
   * Whether whoever opened the socket has shown a secret of ours, so that what it asks for is the operator's own wish.
   */
  readonly vouched?: boolean;
  readonly tokens: CallTokens;
  readonly context: CallContext;
  /** Opens the leg on the socket. */
  connect(handlers: LegHandlers): CallLeg;
  /** Makes the call that `start` announces. Throws a TrunklineError when it may not be. */
  open(start: CallStart, leg: CallLeg, pendingCall: PendingCall): Call;
  /** The socket closed without ever becoming a call. */
  onGone(pendingCall: PendingCall, reason: EndReason): void;
}

export class PendingCall {
  readonly #options: PendingCallOptions;
  readonly #leg: CallLeg;
  #call: Call | null = null;
  #gone = false;

  constructor(options: PendingCallOptions) {
    this.#options = options;
    this.#leg = options.connect({
      onEvent: (event) => this.#onEvent(event),
      onClosed: (end) => this.#onClosed(end),
    });
  }

  /** Whether the socket is closed, or being closed. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Closes the socket with the error's close code and ends what became of it. */
  fail(error: unknown): void {
    if (this.#gone) return;
    const coded = asTrunklineError(error, 'this call could not go on');
    if (coded !== error) this.#options.context.log.error({ err: error, callId: this.#call?.id }, 'a call failed');
    this.#countRefusal(coded.code);
    this.#leg.fail(coded);
    this.#finish(coded.code === 'draining' ? 'drained' : 'error');
  }

  /** Ends a call of ours that nobody has answered yet. */
  giveUp(): void {
    if (this.#gone || this.#call !== null) return;
    this.#leg.close(1000, 'given up');
    this.#finish('api');
  }

  #onEvent(event: CarrierEvent): void {
    if (this.#gone) return;
    const type = event.type === 'ignored' ? event.what : event.type;
    this.#options.context.metrics.messages.inc({ carrier: this.#options.carrier, type });
    try {
      if (this.#call !== null) this.#call.receive(event);
      else if (event.type === 'start') this.#call = this.#begin(event.start);
      else if (event.type === 'stop') this.#leave();
    } catch (error) {
      this.fail(error);
    }
  }

  #onClosed(end: LegEnd): void {
    if (this.#gone) return;
    if (end.code === 'internal')
      this.#options.context.log.error({ err: end.error, callId: this.#call?.id }, 'a leg failed');
    if (end.code !== null) this.#tellEnd(end.reason, end.code);
    this.#finish(end.reason);
  }

  #leave(): void {
    this.#leg.close(1000, 'stopped before it started');
    this.#finish('closed');
  }

  #begin(start: CallStart): Call {
    checkNames(start);
    const known = this.#identify(start);
    const call = this.#options.open(known, this.#leg, this);
    call.begin();
    return call;
  }

  /**
   * The start without its token and without an app that it may not ask for; with what the webhook told of the call when
   * the token is good.
   */
  #identify(start: CallStart): CallStart {
    const { token, ...given } = start.parameters;
    const known = token === undefined ? null : this.#options.tokens.redeem(token, start.callId);
    if (known === null && this.#options.tokenRequired) {
      throw new TrunklineError(
        'call_token_invalid',
        `got ${token === undefined ? 'no call token' : 'a call token that is unknown, used, expired or of another call'}, expected the one that /twilio/voice gave for this call`,
      );
    }
    const details = { ...boundDetails(given), ...boundDetails(start.details ?? {}), ...known?.details };
    return { ...start, ...known, details, parameters: this.#checkApp(given, known !== null) };
  }

  /** A token vouches for its stream if the webhook that gave it out was signed. */
  #checkApp(given: CallStart['parameters'], hasToken: boolean): CallStart['parameters'] {
    const { settings, log } = this.#options.context;
    const vouched = this.#options.vouched === true || (hasToken && settings.TWILIO_AUTH_TOKEN !== '');
    const parameters = withoutStrangeApp(given, vouched, settings);
    if (Object.keys(parameters).length < Object.keys(given).length) {
      log.warn(
        { carrier: this.#options.carrier },
        'a stream asked for an app or for TwiML that APP_ALLOWED_ORIGINS does not allow',
      );
    }
    return parameters;
  }

  #finish(reason: EndReason): void {
    this.#gone = true;
    if (this.#call === null) this.#options.onGone(this, reason);
    else void this.#call.end(reason);
  }

  /** A call whose carrier fell silent was taken, and held as long as there was something of it: nothing was refused. */
  #tellEnd(reason: LegEnd['reason'], code: ErrorCode): void {
    if (this.#call === null || reason !== 'timeout') this.#countRefusal(code);
    else
      this.#options.context.log.warn(
        { carrier: this.#options.carrier, callId: this.#call.id, code },
        'a call is ended: its carrier sends nothing any more',
      );
  }

  #countRefusal(code: ErrorCode): void {
    this.#options.context.metrics.refused.inc({ code });
    this.#options.context.log.warn({ carrier: this.#options.carrier, callId: this.#call?.id, code }, 'stream refused');
  }
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
