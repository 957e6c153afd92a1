/** The INVITE of a call of ours over one trunk, in all its tries: from the first one to an answer, or to a failure. */
import type {
  IncomingRequestMessage,
  IncomingResponse,
  IncomingResponseMessage,
  OutgoingInviteRequest,
  OutgoingRequestMessage,
  Session,
  URI,
} from 'sip.js/lib/core/index.js';
import type { SipAnswer } from '../../calls/leg.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Codec } from '../../foundation/units.ts';
import type { Credentials } from './credentials.ts';
import { EarlyDialog } from './early-dialog.ts';
import { EarlyMedia } from './early-media.ts';
import type { SipLeg } from './leg.ts';
import { CallMedia, type MediaSession } from './media.ts';
import { isOurOwn } from './own-answers.ts';
import { type CallTarget, Redirection } from './redirection.ts';
import { timerHeadersOf } from './session-timer.ts';
import type { SipStack } from './stack.ts';
import { sdpBody, sdpIn } from './wire/bodies.ts';
import type { LocalSecurity, SrtpPolicy } from './wire/crypto-lines.ts';
import { acknowledgementOf, RELIABLE_TAG } from './wire/reliable.ts';
import type { RtpCodecName } from './wire/rtp-codecs.ts';
import { MAX_SESSION_S, MIN_SESSION_S, requestHeaders } from './wire/session-timer.ts';

/** A peer that does not answer the CANCEL either is forgotten (64 × T1). */
const CANCEL_TIMEOUT_MS = 32_000;

/** Every proxy on the way may want another interval for session timers. */
const RAISES_MAX = 5;

/** A peer that does not take our description: 415, 488 and 606 (RFC 3261 §21). */
const TAKES_NO_OFFER: readonly number[] = [415, 488, 606];
/** What follows in a status line is as long as somebody likes. */
const REASON_MAX_CHARS = 128;

/** A server that a call can go over, and how it is asked. */
export interface CallWay {
  /** The trunk's name, for the log; null = it is no trunk. */
  readonly name: string | null;
  readonly stack: SipStack;
  readonly fromUri: URI;
  readonly toUri: URI;
  /** How its media are secured, how it names us, and the proxies on the way to it. */
  readonly srtp: SrtpPolicy;
  readonly scheme: 'sip' | 'sips';
  readonly route: readonly string[];
  /** An INVITE to the trunk is about to be sent. */
  onRequest(message: OutgoingRequestMessage): void;
  /** What challenges within the call are answered with. */
  credentials(): Credentials | undefined;
  /** The trunk has answered something, or gives no sign (`silent`). */
  onSign(sign: 'answered' | 'silent'): void;
}

/** Why nothing came of an INVITE. */
export interface InvitationFailure {
  readonly answer: SipAnswer;
  /** A telephone rang: whoever it belongs to has had the call. */
  readonly hasRung: boolean;
}

/** Somebody has answered. */
export interface Accepted {
  readonly session: Session;
  readonly answer: IncomingResponseMessage;
  readonly target: CallTarget;
}

interface InvitationOptions {
  readonly way: CallWay;
  /** The Call-ID of its dialogs. */
  readonly sipCallId: string;
  readonly media: {
    readonly session: MediaSession;
    readonly address: string;
    readonly codecs: readonly RtpCodecName[];
    /** Of the call that it goes on; null = it is a new one. */
    readonly codec: Codec | null;
  };
  /** Takes what is heard. */
  readonly leg: SipLeg;
  readonly clock: Clock;
  /** The interval of session timers that is asked for; 0 = none. */
  readonly wantedS: number;
  /** Further headers of the INVITE. */
  readonly headers: readonly string[];
  /** How long it may take until there is any answer; null = as long as it may ring. */
  readonly patienceMs: number | null;
  readonly log: Log;
  /** Whether 301 and 302 may lead the call to this address or name. */
  mayCall(host: string): boolean;
  /** Until the answer UPDATEs may come, of the dialogs with this Call-ID and our tag; null = no longer. */
  onEarly(id: string, early: EarlyDialog | null): void;
  /** A provisional answer. */
  onProgress(answer: SipAnswer): void;
  /** Once, unless it fails or is cancelled before. */
  onAccepted(accepted: Accepted): void;
  /** Once, unless it is answered or cancelled before. */
  onFailed(failure: InvitationFailure): void;
}

/** An INVITE: what it offers and asks for, and the one before it; null = it is the first. */
interface Ask {
  readonly target: CallTarget;
  readonly offer: string;
  /** Other offers, should the peer not take this one. */
  readonly others: readonly LocalSecurity['offers'][];
  /** 0 = no session timer is asked for. */
  readonly intervalS: number;
  readonly minimumS: number;
  /** How often it was refused for too small an interval. */
  readonly raises: number;
  readonly last: OutgoingRequestMessage | null;
}

export class Invitation {
  readonly way: CallWay;
  readonly media: CallMedia;
  readonly early: EarlyMedia;
  readonly #options: InvitationOptions;
  readonly #redirection: Redirection;
  #invite: OutgoingInviteRequest | null = null;
  /** The tag of whoever is heard before the answer; null = nobody. */
  #earlyTag: string | null = null;
  /** What UPDATEs find before the answer. */
  #updates: { readonly id: string; readonly early: EarlyDialog } | null = null;
  /** Ends the wait for any answer. */
  #patience: Timer | null = null;
  /** The INVITE has had its final answer. */
  #settled = false;
  /** Nobody waits for what becomes of it any more. */
  #cancelled = false;
  #hasRung = false;

  constructor(options: InvitationOptions) {
    const { way, media, leg, log } = options;
    const { stack, toUri, srtp } = way;
    this.#options = options;
    this.way = way;
    this.media = new CallMedia({ ...media, srtp, isPrivate: stack.protocol === 'TLS', log });
    this.early = new EarlyMedia(leg);
    this.#redirection = new Redirection({
      first: toUri,
      transport: stack.protocol,
      mayCall: (host) => options.mayCall(host),
      sourceOf: (answer) => stack.envelopeOf(answer).source,
    });
  }

  /** The tag of whoever is heard before the answer; null = nobody. */
  get earlyTag(): string | null {
    return this.#earlyTag;
  }

  /** The tag of whoever has changed the description since, before the answer; null = nobody. */
  get updatedTag(): string | null {
    return this.#updates?.early.updatedTag ?? null;
  }

  /** Sends the INVITE. To be called once. */
  send(): void {
    const { way, clock, wantedS, patienceMs } = this.#options;
    const [first = 'plain', ...others] = this.media.firstOffers();
    const offer = this.media.firstOffer(first);
    const target = { uri: way.toUri, isTrunk: true };
    if (patienceMs !== null) this.#patience = clock.after(patienceMs, () => this.#loseHope(), true);
    this.#ask({ target, offer, others, intervalS: wantedS, minimumS: MIN_SESSION_S, raises: 0, last: null });
  }

  /** Nothing more is told. sip.js holds the CANCEL back until the peer shows that it got the INVITE (RFC 3261 §9.1). */
  cancel(): void {
    const invite = this.#invite;
    this.#cancelled = true;
    this.#patience?.cancel();
    if (invite === null || this.#settled) return;
    invite.cancel();
    this.#options.clock.after(CANCEL_TIMEOUT_MS, () => this.#forget(invite), true);
  }

  /** No more UPDATEs before the answer. */
  endUpdates(): void {
    if (this.#updates !== null) this.#options.onEarly(this.#updates.id, null);
  }

  /** Gives the ports back. */
  close(): void {
    this.#patience?.cancel();
    this.endUpdates();
    void this.media.close();
  }

  /** One INVITE, or the next one after it (RFC 4028 §7.4): in the same call, with the next number. */
  #ask(ask: Ask): void {
    const { way, sipCallId, headers: more } = this.#options;
    const { stack, fromUri, toUri, route, scheme } = way;
    const { target, offer, intervalS, minimumS, last } = ask;
    const { core } = stack;
    const timer = intervalS === 0 ? [] : requestHeaders(intervalS, null, minimumS);
    const contact = `Contact: <${stack.contactAs(scheme).toString()}>`;
    const headers = [contact, stack.allowHeader, `Supported: ${RELIABLE_TAG}`, ...timer, ...more];
    const names = {
      callId: sipCallId,
      routeSet: [...route],
      ...(last === null ? {} : { cseq: last.cseq + 1, fromTag: last.fromTag ?? '' }),
    };
    const body = sdpBody(offer);
    const message = core.makeOutgoingRequestMessage('INVITE', target.uri, fromUri, toUri, names, headers, body);
    if (target.isTrunk) way.onRequest(message);
    this.early.forget();
    this.#earlyTag = null;
    this.#takeUpdates(message, contact);
    this.#invite = core.invite(message, {
      onTrying: ({ message: answer }) => this.#progress(answer),
      onProgress: ({ message: answer, prack }) => {
        const acknowledgement = acknowledgementOf(answer);
        if (acknowledgement !== null) prack({ extraHeaders: [acknowledgement] });
        this.#progress(answer);
        this.#hear(answer);
      },
      onAccept: ({ message: answer, session, ack }) => {
        ack();
        this.#accepted({ session, answer, target });
      },
      onReject: (response) => this.#rejected(response, { ...ask, last: message }),
      onRedirect: (response) => this.#rejected(response, { ...ask, last: message }),
    });
  }

  #takeUpdates({ callId, fromTag }: OutgoingRequestMessage, contactHeader: string): void {
    const { way, onEarly } = this.#options;
    const addressOf = (message: IncomingRequestMessage): string => way.stack.envelopeOf(message).source.address;
    const early = new EarlyDialog({ media: this.media, contactHeader, heardTag: () => this.#earlyTag, addressOf });
    this.#updates = { id: callId + (fromTag ?? ''), early };
    onEarly(this.#updates.id, early);
  }

  #progress(answer: IncomingResponseMessage): void {
    this.#noteSign(answer);
    this.#hasRung ||= answer.statusCode === 180;
    if (!this.#cancelled) this.#options.onProgress(answerIn(answer));
  }

  #noteSign(answer: IncomingResponseMessage): void {
    this.#patience?.cancel();
    this.way.onSign(isOurOwn(answer) ? 'silent' : 'answered');
  }

  /** Sound flows from the first description on; of several telephones that ring, only that of the first one. */
  #hear(answer: IncomingResponseMessage): void {
    const { way, log } = this.#options;
    const sdp = sdpIn(answer);
    if (sdp === null || this.#earlyTag !== null || this.#settled || this.#cancelled) return;
    try {
      this.media.accept(sdp, way.stack.envelopeOf(answer).source.address);
      this.media.start(this.early);
      this.#earlyTag = answer.toTag ?? '';
    } catch (err) {
      // The answer may have another description.
      log.debug({ err }, 'early media could not be used');
    }
  }

  /** A second answer to one INVITE comes from another telephone that rang along. */
  #accepted(accepted: Accepted): void {
    const isLate = this.#cancelled || this.#settled;
    this.#noteSign(accepted.answer);
    this.#settled = true;
    if (isLate) accepted.session.bye();
    else this.#options.onAccepted(accepted);
  }

  #rejected({ message }: IncomingResponse, ask: Ask): void {
    this.#noteSign(message);
    const again = this.#cancelled ? null : this.#askAfter(message, ask);
    if (again !== null) {
      this.#ask(again);
      return;
    }
    if (this.#redirection.refused)
      this.#options.log.warn(
        'a SIP call was redirected to where it must not go (only to servers of ours and SIP_ALLOW), or in a circle',
      );
    this.#settled = true;
    if (!this.#cancelled) this.#options.onFailed({ answer: answerIn(message), hasRung: this.#hasRung });
  }

  /** The INVITE that follows this refusal of one, at the same trunk; null = none. */
  #askAfter(message: IncomingResponseMessage, ask: Ask): Ask | null {
    const { minimumS } = timerHeadersOf(message);
    const isTooSmall = message.statusCode === 422 && minimumS > ask.intervalS && minimumS <= MAX_SESSION_S;
    if (isTooSmall && ask.raises < RAISES_MAX) return { ...ask, intervalS: minimumS, minimumS, raises: ask.raises + 1 };
    const [next, ...others] = ask.others;
    if (next !== undefined && TAKES_NO_OFFER.includes(message.statusCode ?? 0))
      return { ...ask, offer: this.media.firstOffer(next), others };
    const target = this.#redirection.next(message, ask.target);
    return target === null ? null : { ...ask, target };
  }

  /** The trunk gives no sign, and there is another one. Should it answer yet, the call is cancelled there. */
  #loseHope(): void {
    this.way.onSign('silent');
    this.cancel();
    this.#options.onFailed({ answer: { status: 408, reason: 'No answer' }, hasRung: false });
  }

  /** Nobody answers; sip.js itself would wait for ever. */
  #forget(invite: OutgoingInviteRequest): void {
    if (this.#settled) return;
    this.#settled = true;
    const clients: Map<string, unknown> = this.way.stack.core.userAgentClients;
    for (const [id, client] of clients) if (client === invite) clients.delete(id);
    invite.dispose();
  }
}

/** What an answer says, as far as it is shown to people: {@link SipAnswer}. */
function answerIn(message: IncomingResponseMessage): SipAnswer {
  const status = message.statusCode ?? 500;
  if (isOurOwn(message)) return { status, reason: status === 408 ? 'No answer' : 'Unreachable' };
  const reason = (message.reasonPhrase ?? '').replace(/\p{Cc}/gu, '').trim();
  return { status, reason: reason.slice(0, REASON_MAX_CHARS) };
}
