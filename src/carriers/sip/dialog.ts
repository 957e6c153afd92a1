/** The dialog of an answered call: what the peer asks for within it, and its end from either side. */

import type {
  Dialog,
  IncomingAckRequest,
  IncomingByeRequest,
  IncomingInfoRequest,
  IncomingInviteRequest,
  IncomingNotifyRequest,
  IncomingReferRequest,
  IncomingRequestMessage,
  IncomingResponseMessage,
  Session,
} from 'sip.js/lib/core/index.js';
import type { TransferOutcome, TransferRequest } from '../../calls/leg.ts';
import type { Clock } from '../../foundation/clock.ts';
import { asTrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import { nextTurn } from '../../foundation/next-turn.ts';
import type { Credentials } from './credentials.ts';
import { type Reply, UpdateOrder } from './early-dialog.ts';
import type { DialogListener } from './leg.ts';
import type { LegSwitch } from './leg-switch.ts';
import type { CallMedia } from './media.ts';
import { PeerTransfer, type Transfers } from './peer-transfer.ts';
import { Referral } from './referral.ts';
import { sendRefresh, sendUpdate } from './refresh-request.ts';
import { type RefreshEvent, type RefreshMethod, type SessionEnd, SessionTimer, tooSmall } from './session-timer.ts';
import type { SipStack } from './stack.ts';
import { contentTypeOf, type SipBody, sdpBody, sdpIn } from './wire/bodies.ts';
import { isAboutRefer, readReferProgress } from './wire/refer.ts';
import type { SessionTerms } from './wire/session-timer.ts';
import type { SipSource } from './wire/via.ts';

const DTMF_DIGIT = /^[0-9*#A-D]$/;

/** What session timers (RFC 4028) need of their surroundings. */
export interface SessionTimerServices {
  readonly clock: Clock;
  /** SIP_SESSION_EXPIRES_SECONDS */
  readonly wantedS: number;
  onRefresh(event: RefreshEvent): void;
}

/** The media of a call, as its dialog sees them. */
export type DialogMedia = Pick<CallMedia, 'answer' | 'offer' | 'accept' | 'isHeld' | 'lastDescription'>;

interface DialogOptions {
  readonly session: Session;
  readonly media: DialogMedia;
  readonly listener: DialogListener;
  /** Whether the peer knows that we know: false for a call of its own until its ACK comes. */
  readonly confirmed: boolean;
  readonly timers: SessionTimerServices;
  /** What challenges within the call are answered with; null in a call of the peer, who has no business asking. */
  readonly credentials: (() => Credentials | undefined) | null;
  readonly log: Log;
  /** `Contact: <sip:…>` of ours. */
  readonly contactHeader: string;
  /** Takes note of what a request that describes the session tells beside that; left out = of nothing. */
  readonly read?: ((message: IncomingRequestMessage) => void) | undefined;
  /** What the peer is asked after that, in an UPDATE; left out = nothing ever. */
  readonly question?: (() => SipBody | null) | undefined;
  readonly stack: SipStack;
  /** Where the peer is: what its INVITE or its answer came from. */
  readonly peer: SipSource;
  readonly transfers: Transfers;
  /** The call's legs, if it is a telephone call that has begun and goes on by this dialog. */
  legs(): LegSwitch | null;
  /** The call's id, for the log. */
  readonly callId: string;
  /**
   * The peer has acknowledged our answer to its INVITE. Once; never when it was we who called. Returns who listens from
   * then on.
   */
  onAcknowledged(): DialogListener;
}

export class CallDialog {
  readonly #options: DialogOptions;
  #listener: DialogListener;
  #confirmed: boolean;
  /** Our offer is out, its answer comes with the ACK. */
  #offering: boolean;
  /** `ours` = a BYE is to be sent, or was; `theirs` = one came. */
  #over: 'no' | 'ours' | 'theirs' = 'no';
  readonly #updates = new UpdateOrder();
  readonly #timer: SessionTimer;
  /** Our own offer is out, to refresh the session. */
  #refreshing = false;
  /** The last transfer that was asked for. */
  #referral: Referral | null = null;
  #isReferring = false;
  /** An UPDATE with a question is out. */
  #isAsking = false;
  /** Transfers that the peer asks for. */
  readonly #asked: PeerTransfer;

  /** `offering` = we made the offer in our answer to an INVITE without one. */
  constructor(options: DialogOptions & { readonly offering: boolean }) {
    this.#options = options;
    this.#listener = options.listener;
    this.#confirmed = options.confirmed;
    this.#offering = options.offering;
    this.#timer = this.#openTimer(options);
    this.#asked = new PeerTransfer({ ...options, clock: options.timers.clock });
    options.session.delegate = {
      onAck: (request) => this.#onAck(request),
      onAckTimeout: () => this.#onAckTimeout(),
      onBye: (request) => this.#onBye(request),
      onInvite: (request) => this.#onInvite(request),
      onInfo: (request) => this.#onInfo(request),
      onNotify: (request) => this.#onNotify(request),
      onRefer: (request) => this.#onRefer(request),
    };
  }

  get id(): string {
    return this.#options.session.id;
  }

  /** The call's session timer. */
  get timer(): SessionTimer {
    return this.#timer;
  }

  /**
   * Tells the peer that the call is over, as soon as that is allowed (RFC 3261 §15: not before its ACK). Nothing when
   * it was the peer who said so.
   */
  hangUp(): void {
    if (this.#over !== 'no') return;
    this.#over = 'ours';
    this.#timer.stop();
    this.#referral?.close();
    if (this.#confirmed) this.#asked.whenTold(() => this.#options.session.bye());
  }

  /** The legs of its call, if that goes on by this dialog. */
  get legs(): LegSwitch | null {
    return this.#over === 'no' && this.#confirmed ? this.#options.legs() : null;
  }

  /** Where the peer is. */
  get peer(): SipSource {
    return this.#options.peer;
  }

  /** Asks the peer to call somebody else in our place; one at a time. */
  async transfer(request: TransferRequest): Promise<TransferOutcome> {
    if (this.#over !== 'no' || !this.#confirmed || this.#isReferring) return 'refused';
    const { session, timers, credentials, contactHeader } = this.#options;
    const referral = new Referral({
      session,
      clock: timers.clock,
      credentials: credentials?.() ?? null,
      contactHeader,
    });
    this.#referral = referral;
    this.#isReferring = true;
    referral.begin(request);
    const outcome = await referral.outcome;
    this.#isReferring = false;
    return outcome;
  }

  /** The answer to an UPDATE (RFC 3311): another offer, or only a sign of life for a session timer. */
  update(message: IncomingRequestMessage, dialog: Dialog | undefined): Reply {
    return this.#updates.answer(message, dialog, () => this.#answerUpdate(message));
  }

  #answerUpdate(message: IncomingRequestMessage): Reply {
    const { media, contactHeader } = this.#options;
    const terms = this.#timer.weigh(message);
    if (terms === 'too-small') return tooSmall();
    const offer = sdpIn(message);
    if (offer !== null && (this.#offering || this.#refreshing)) return { statusCode: 491 };
    try {
      const body = offer === null ? {} : { body: sdpBody(media.answer(offer, this.#addressOf(message))) };
      this.#read(message);
      this.#listener.hold(media.isHeld);
      return { statusCode: 200, extraHeaders: [contactHeader, ...this.#timer.answered(message, terms)], ...body };
    } catch (error) {
      return { statusCode: sipStatusOf(error) };
    }
  }

  /** A question goes out behind the answer. */
  #read(message: IncomingRequestMessage): void {
    const { read, question } = this.#options;
    read?.(message);
    if (question !== undefined) void nextTurn().then(() => this.#ask(question));
  }

  #ask(question: () => SipBody | null): void {
    if (this.#over !== 'no' || !this.#confirmed || this.#isAsking) return;
    const body = question();
    if (body === null) return;
    const { session, contactHeader, log, stack } = this.#options;
    // sip.js writes the type of a body alone.
    const disposition = `Content-Disposition: ${body.contentDisposition}`;
    const headers = [contactHeader, stack.allowHeader, disposition, ...this.#timer.headers];
    const onFinal = (answer: IncomingResponseMessage): void => {
      this.#isAsking = false;
      if (this.#over === 'no') this.#timer.refreshed(answer);
    };
    this.#isAsking = true;
    sendUpdate({ session, headers, body, onFinal }, ({ message: { statusCode } }) => {
      this.#isAsking = false;
      log.warn({ statusCode }, 'a SIP peer does not tell what it was asked for');
    });
  }

  #openTimer({ timers, confirmed }: DialogOptions): SessionTimer {
    return new SessionTimer({
      ...timers,
      isOurs: confirmed,
      send: (method, headers, onFinal) => this.#refresh(method, headers, onFinal),
      onOver: (why, terms) => this.#expire(why, terms),
    });
  }

  #refresh(
    method: RefreshMethod,
    headers: readonly string[],
    onFinal: (answer: IncomingResponseMessage) => void,
  ): void {
    const { session, media, contactHeader, credentials, stack } = this.#options;
    sendRefresh({
      session,
      method,
      sdp: media.lastDescription,
      headers: [contactHeader, stack.allowHeader, ...headers],
      credentials: credentials?.() ?? null,
      onFinal: (answer) => {
        this.#refreshing = false;
        if (this.#over !== 'no') return;
        if (method === 'INVITE' && (answer.statusCode ?? 500) < 300) this.#acceptAnswer(answer);
        onFinal(answer);
      },
    });
    this.#refreshing = method === 'INVITE';
  }

  /** The peer may answer the same description otherwise than before. */
  #acceptAnswer(answer: IncomingResponseMessage): void {
    const { media } = this.#options;
    const sdp = sdpIn(answer);
    if (sdp === null) return;
    try {
      media.accept(sdp, this.#addressOf(answer));
      this.#listener.hold(media.isHeld);
    } catch (error) {
      this.#listener.fail(asTrunklineError(error, 'the answer could not be used'));
    }
  }

  #expire(why: SessionEnd, { intervalS }: SessionTerms): void {
    const { log } = this.#options;
    const texts = {
      expired: 'a SIP call ends: its session was not refreshed in time',
      gone: 'a SIP call ends: the peer did not answer the session refresh, or no longer knows the call',
    };
    log.warn({ intervalS }, texts[why]);
    this.#listener.end({ reason: why === 'expired' ? 'timeout' : 'lost', code: null, error: null });
  }

  #onAck({ message }: IncomingAckRequest): void {
    const isFirst = !this.#confirmed;
    this.#confirmed = true;
    if (this.#over === 'ours') {
      this.#options.session.bye();
      return;
    }
    const { media, onAcknowledged } = this.#options;
    const isAnswer = this.#offering;
    this.#offering = false;
    try {
      this.#read(message);
      if (isAnswer) media.accept(sdpIn(message) ?? '', this.#addressOf(message));
      if (!isFirst) this.#listener.hold(media.isHeld);
      if (isFirst) this.#listener = onAcknowledged();
    } catch (error) {
      this.#listener.fail(asTrunklineError(error, 'the answer could not be used'));
    }
  }

  /** Called by a timer of sip.js. */
  #onAckTimeout(): void {
    if (this.#over === 'theirs' || this.#confirmed) return;
    this.#confirmed = true;
    this.#timer.stop();
    if (this.#over === 'ours') this.#options.session.bye();
    this.#listener.end({ reason: 'lost', code: null, error: null });
  }

  #onBye(request: IncomingByeRequest): void {
    const wasOver = this.#over !== 'no';
    this.#over = 'theirs';
    this.#timer.stop();
    this.#asked.close();
    request.accept();
    const isTransferred = this.#isReferring && this.#referral?.onBye() === true;
    if (wasOver) return;
    // Whoever waits for the transfer is told first: the call is to end as one that was given to somebody else.
    if (isTransferred) void nextTurn().then(() => this.#listener.leave());
    else this.#listener.leave();
  }

  /** What became of a transfer. */
  #onNotify(request: IncomingNotifyRequest): void {
    const isKnown = isAboutRefer(request.message);
    if (!isKnown || this.#referral === null) {
      request.reject({ statusCode: isKnown ? 481 : 489 });
      return;
    }
    request.accept();
    this.#referral.onProgress(readReferProgress(request.message));
  }

  #onRefer(request: IncomingReferRequest): void {
    if (this.#over === 'no') this.#asked.receive(request);
    else request.reject({ statusCode: 481 });
  }

  /** Hold, another address or another codec; or, with no offer, a question what we would offer. */
  #onInvite(request: IncomingInviteRequest): void {
    const { media, contactHeader } = this.#options;
    const offer = sdpIn(request.message);
    if (this.#over !== 'no') {
      request.reject({ statusCode: 481 });
      return;
    }
    if (this.#offering) {
      request.reject({ statusCode: 491 });
      return;
    }
    const terms = this.#timer.weigh(request.message);
    if (terms === 'too-small') {
      request.reject(tooSmall());
      return;
    }
    try {
      const sdp = offer === null ? media.offer() : media.answer(offer, this.#addressOf(request.message));
      const extraHeaders = [contactHeader, ...this.#timer.answered(request.message, terms)];
      request.accept({ statusCode: 200, extraHeaders, body: sdpBody(sdp) });
      this.#offering = offer === null;
      this.#read(request.message);
      this.#listener.hold(media.isHeld);
    } catch (error) {
      request.reject({ statusCode: sipStatusOf(error) });
    }
  }

  #addressOf(message: IncomingRequestMessage | IncomingResponseMessage): string {
    return this.#options.stack.envelopeOf(message).source.address;
  }

  /** Keys as some gateways send them: `application/dtmf-relay` ("Signal=5") and `application/dtmf` ("5"). */
  #onInfo(request: IncomingInfoRequest): void {
    const { body } = request.message;
    const type = contentTypeOf(request.message);
    if (body === '' || type === '') {
      request.accept();
      return;
    }
    if (type !== 'application/dtmf-relay' && type !== 'application/dtmf') {
      request.reject({ statusCode: 415, extraHeaders: ['Accept: application/dtmf-relay, application/dtmf'] });
      return;
    }
    request.accept();
    const digit = (type === 'application/dtmf' ? body : (/^[ \t]*Signal[ \t]*=[ \t]*(\S+)/im.exec(body)?.[1] ?? ''))
      .trim()
      .toUpperCase();
    if (DTMF_DIGIT.test(digit)) this.#listener.receiveDigit(digit);
  }
}

/** The SIP status of the refusal of a request that failed with `error`. */
function sipStatusOf(error: unknown): number {
  return asTrunklineError(error, '').sipStatus;
}
