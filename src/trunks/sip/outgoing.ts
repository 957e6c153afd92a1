/** A call that we make through a registrar or trunk: from the INVITE to the dialog, or to nothing. */

import type {
  IncomingRequestMessage,
  IncomingResponse,
  IncomingResponseMessage,
  OutgoingInviteRequest,
  OutgoingRequestMessage,
  Session,
  URI,
} from 'sip.js/lib/core/index.js';
import type { LegHandlers, TransferOutcome, TransferRequest } from '../../calls/leg.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { asTrunklineError, TrunklineError } from '../../foundation/errors.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import { sdpBody, sdpIn } from '../../protocols/sip/bodies.ts';
import type { LocalSecurity, SrtpPolicy } from '../../protocols/sip/crypto-lines.ts';
import { failureOf } from '../../protocols/sip/refer.ts';
import { acknowledgementOf, RELIABLE_TAG } from '../../protocols/sip/reliable.ts';
import { MAX_SESSION_S, MIN_SESSION_S, requestHeaders } from '../../protocols/sip/session-timer.ts';
import type { Credentials } from './credentials.ts';
import { CallDialog } from './dialog.ts';
import { EarlyDialog } from './early-dialog.ts';
import { EarlyMedia } from './early-media.ts';
import type { CallServices } from './incoming.ts';
import { type LegOwner, SipLeg } from './leg.ts';
import { LegSwitch } from './leg-switch.ts';
import { CallMedia } from './media.ts';
import { type CallTarget, Redirection } from './redirection.ts';
import { timerHeadersOf } from './session-timer.ts';
import type { SipStack } from './stack.ts';

/** How long it may ring. */
export const RING_TIMEOUT_MS = 60_000;
/** A peer that does not answer the CANCEL either is forgotten (64 × T1). */
const CANCEL_TIMEOUT_MS = 32_000;

/** Every proxy on the way may want another interval for session timers. */
const RAISES_MAX = 5;

/** A peer that does not take our description: 415, 488 and 606 (RFC 3261 §21). */
const TAKES_NO_OFFER: readonly number[] = [415, 488, 606];

/** Whom to call as whom, and how the call is to be held. */
export interface OutgoingCallRequest {
  readonly callId: string;
  readonly to: string;
  readonly from: string | null;
  readonly parameters: Readonly<Record<string, string>>;
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

/** The call is made in the place of one that goes on. */
export interface OutgoingTransfer {
  readonly legs: LegSwitch;
  /** The id of the call that goes on. */
  readonly callId: string;
  /** Further headers of the INVITE. */
  readonly headers: readonly string[];
  /** A provisional status, or the final one. */
  onStatus(statusCode: number): void;
}

interface OutgoingOptions extends CallServices {
  /** Null = it is a new call. */
  readonly transfer: OutgoingTransfer | null;
  readonly request: OutgoingCallRequest;
  readonly stack: SipStack;
  readonly clock: Clock;
  readonly fromUri: URI;
  readonly toUri: URI;
  /** Of the trunk: how its media are secured, how it names us, and the proxies on the way to it. */
  readonly srtp: SrtpPolicy;
  readonly scheme: 'sip' | 'sips';
  readonly route: readonly string[];
  /** Whether 301 and 302 may lead the call to this address or name. */
  mayCall(host: string): boolean;
  /** An INVITE to the trunk is about to be sent. */
  onRequest(message: OutgoingRequestMessage): void;
  /** What challenges within the call are answered with. */
  credentials(): Credentials | undefined;
  onDialog(dialog: CallDialog): void;
  /** Until the answer UPDATEs may come, of the dialogs with this Call-ID and our tag; null = no longer. */
  onEarly(id: string, early: EarlyDialog | null): void;
  /** Everything of the call is released. Once. */
  onGone(): void;
}

export class OutgoingCall implements LegOwner {
  readonly #options: OutgoingOptions;
  #leg: SipLeg | null = null;
  #legs: LegSwitch | null = null;
  #media: CallMedia | null = null;
  #invite: OutgoingInviteRequest | null = null;
  #dialog: CallDialog | null = null;
  readonly #redirection: Redirection;
  #early: EarlyMedia | null = null;
  /** The tag of whoever is heard before the answer; null = nobody. */
  #earlyTag: string | null = null;
  /** What UPDATEs find before the answer. */
  #updates: { readonly id: string; readonly early: EarlyDialog } | null = null;
  /** The INVITE has had its final answer. */
  #settled = false;
  #timer: Timer | null = null;

  constructor(options: OutgoingOptions) {
    this.#options = options;
    const { stack, toUri } = options;
    this.#redirection = new Redirection({
      first: toUri,
      transport: stack.protocol,
      mayCall: (host) => options.mayCall(host),
      sourceOf: (answer) => stack.envelopeOf(answer).source,
    });
  }

  /**
   * Sends the INVITE. From then on the registry has the call.
   * @throws TrunklineError `too_many_calls`, `draining`
   */
  async dial(): Promise<void> {
    const { registry, openMedia, mediaAddress, codecs, request, stack, srtp, transfer, timers, log } = this.#options;
    const media = new CallMedia({
      session: await openMedia(),
      address: mediaAddress,
      codecs,
      srtp,
      isPrivate: stack.protocol === 'TLS',
      codec: transfer?.legs.codec ?? null,
      log: log.child({ callId: this.#callId }),
    });
    this.#media = media;
    const { callId, from, to, parameters } = request;
    const outgoing = { callId, from, to, parameters };
    const connect = (handlers: LegHandlers): SipLeg => {
      this.#leg = new SipLeg({ owner: this, media: media.session, handlers });
      this.#early = new EarlyMedia(this.#leg);
      return this.#leg;
    };
    const open = (handlers: LegHandlers): LegSwitch => {
      this.#legs = LegSwitch.open(handlers, timers.clock, connect);
      return this.#legs;
    };
    try {
      if (transfer === null) registry.admit();
      else this.#follow(transfer.legs, connect);
    } catch (error) {
      this.#leave();
      throw error;
    }
    if (transfer === null)
      registry.accept({ carrier: 'sip', tokenRequired: false, trusted: true, outgoing, connect: open });
    try {
      this.#send(media);
    } catch (error) {
      this.#leg?.fail(new TrunklineError('internal', 'the call could not be dialled'));
      throw error;
    }
  }

  #follow(legs: LegSwitch, connect: (handlers: LegHandlers) => SipLeg): void {
    legs.follow('refer', connect);
    this.#legs = legs;
  }

  /** Of the call that it belongs to. */
  get #callId(): string {
    return this.#options.transfer?.callId ?? this.#options.request.callId;
  }

  release(): void {
    this.#options.transfer?.onStatus(487);
    if (this.#dialog === null) this.#cancel();
    else this.#dialog.hangUp();
    this.#leave();
  }

  async transfer(request: TransferRequest): Promise<TransferOutcome> {
    return (await this.#dialog?.transfer(request)) ?? 'unsupported';
  }

  #send(media: CallMedia): void {
    const { clock, timers } = this.#options;
    this.#timer = clock.after(
      RING_TIMEOUT_MS,
      () => {
        this.#options.transfer?.onStatus(408);
        this.#leg?.end({ reason: 'unanswered', code: null, error: null });
      },
      true,
    );
    const [first = 'plain', ...others] = media.firstOffers();
    const offer = media.firstOffer(first);
    const target = { uri: this.#options.toUri, isTrunk: true };
    this.#ask({ target, offer, others, intervalS: timers.wantedS, minimumS: MIN_SESSION_S, raises: 0, last: null });
  }

  /** One INVITE, or the next one after it (RFC 4028 §7.4): in the same call, with the next number. */
  #ask(ask: Ask): void {
    const { stack, request, fromUri, toUri, route, scheme, transfer, onRequest } = this.#options;
    const { target, offer, intervalS, minimumS, last } = ask;
    const { core } = stack;
    const timer = intervalS === 0 ? [] : requestHeaders(intervalS, null, minimumS);
    const contact = `Contact: <${stack.contactAs(scheme).toString()}>`;
    const own = [contact, stack.allowHeader, `Supported: ${RELIABLE_TAG}`, ...timer];
    const headers = [...own, ...(transfer?.headers ?? [])];
    const names = {
      callId: request.callId,
      routeSet: [...route],
      ...(last === null ? {} : { cseq: last.cseq + 1, fromTag: last.fromTag ?? '' }),
    };
    const body = sdpBody(offer);
    const message = core.makeOutgoingRequestMessage('INVITE', target.uri, fromUri, toUri, names, headers, body);
    if (target.isTrunk) onRequest(message);
    this.#early?.forget();
    this.#earlyTag = null;
    this.#takeUpdates(message, contact);
    this.#invite = core.invite(message, {
      onProgress: ({ message: answer, prack }) => {
        const acknowledgement = acknowledgementOf(answer);
        if (acknowledgement !== null) prack({ extraHeaders: [acknowledgement] });
        transfer?.onStatus(answer.statusCode ?? 183);
        this.#hear(answer);
      },
      onAccept: ({ message: answer, session, ack }) => {
        ack();
        this.#accepted(session, answer, target);
      },
      onReject: (response) => this.#rejected(response, { ...ask, last: message }),
      onRedirect: (response) => this.#rejected(response, { ...ask, last: message }),
    });
  }

  #takeUpdates({ callId, fromTag }: OutgoingRequestMessage, contactHeader: string): void {
    const media = this.#media;
    if (media === null) return;
    const { stack, onEarly } = this.#options;
    const addressOf = (message: IncomingRequestMessage): string => stack.envelopeOf(message).source.address;
    const early = new EarlyDialog({ media, contactHeader, heardTag: () => this.#earlyTag, addressOf });
    this.#updates = { id: callId + (fromTag ?? ''), early };
    onEarly(this.#updates.id, early);
  }

  /** Sound flows from the first description on; of several telephones that ring, only that of the first one. */
  #hear(answer: IncomingResponseMessage): void {
    const media = this.#media;
    const early = this.#early;
    const sdp = sdpIn(answer);
    if (sdp === null || media === null || early === null || this.#earlyTag !== null) return;
    if (this.#settled || this.#leg?.ended !== false) return;
    const { stack, log } = this.#options;
    try {
      media.accept(sdp, stack.envelopeOf(answer).source.address);
      media.start(early);
      this.#earlyTag = answer.toTag ?? '';
    } catch (err) {
      // The answer may have another description.
      log.debug({ err }, 'early media could not be used');
    }
  }

  /** A second answer to one INVITE comes from another telephone that rang along. */
  #accepted(session: Session, answer: IncomingResponseMessage, { isTrunk }: CallTarget): void {
    const leg = this.#leg;
    const media = this.#media;
    const early = this.#early;
    this.#timer?.cancel();
    if (leg === null || media === null || early === null || leg.ended || this.#settled) {
      this.#settled = true;
      session.bye();
      return;
    }
    this.#settled = true;
    const { stack, scheme, onDialog, timers, log, credentials, transfer, transfers } = this.#options;
    const contactHeader = `Contact: <${stack.contactAs(scheme).toString()}>`;
    this.#dialog = new CallDialog({
      session,
      media,
      listener: leg,
      contactHeader,
      timers,
      confirmed: true,
      offering: false,
      credentials: isTrunk ? credentials : null,
      stack,
      peer: stack.envelopeOf(answer).source,
      transfers,
      legs: () => (this.#legs?.isLive(leg) === true ? this.#legs : null),
      callId: this.#callId,
      log: log.child({ callId: this.#callId }),
      onAcknowledged: () => leg,
    });
    this.#endUpdates();
    onDialog(this.#dialog);
    this.#dialog.timer.accepted(answer);
    try {
      // Whoever answers has got our INVITE where we sent it.
      // A call that goes on has no use for what was said before.
      if (this.#earlyTag !== session.remoteTag || transfer !== null) early.forget();
      media.start(early);
      const isUpdated = this.#updates?.early.updatedTag === session.remoteTag;
      if (!isUpdated)
        media.accept(sdpIn(answer) ?? session.answer?.content ?? '', stack.envelopeOf(answer).source.address);
      const start = this.#start(session, media);
      transfer?.onStatus(200);
      leg.begin(start);
      early.begin(start.codec);
    } catch (error) {
      transfer?.onStatus(488);
      leg.fail(asTrunklineError(error, 'the answer could not be used'));
    }
  }

  #start(session: Session, { codec }: CallMedia): CallStart {
    const { callId, from, to, parameters } = this.#options.request;
    if (codec === null) throw new TrunklineError('codec_unsupported', 'the answer agreed on no codec');
    const parties = { callId, streamId: session.localTag, from, to };
    return {
      carrier: 'sip',
      ...parties,
      tracks: ['inbound'],
      codec,
      timed: true,
      playback: 'paced',
      parameters,
      outgoing: true,
    };
  }

  #rejected({ message }: IncomingResponse, ask: Ask): void {
    const { minimumS } = timerHeadersOf(message);
    const isTooSmall = message.statusCode === 422 && minimumS > ask.intervalS && minimumS <= MAX_SESSION_S;
    if (isTooSmall && ask.raises < RAISES_MAX && this.#leg?.ended === false) {
      this.#ask({ ...ask, intervalS: minimumS, minimumS, raises: ask.raises + 1 });
      return;
    }
    const [next, ...others] = ask.others;
    if (next !== undefined && TAKES_NO_OFFER.includes(message.statusCode ?? 0) && this.#leg?.ended === false) {
      this.#ask({ ...ask, offer: this.#media?.firstOffer(next) ?? ask.offer, others });
      return;
    }
    const target = this.#leg?.ended === false ? this.#redirection.next(message, ask.target) : null;
    if (target !== null) {
      this.#ask({ ...ask, target });
      return;
    }
    if (this.#redirection.refused)
      this.#options.log.warn(
        { callId: this.#callId },
        'a SIP call was redirected to where it must not go (only to servers of ours and SIP_ALLOW), or in a circle',
      );
    this.#settled = true;
    this.#options.transfer?.onStatus(message.statusCode ?? 500);
    this.#leg?.end({ reason: failureOf(message.statusCode ?? 500), code: null, error: null });
  }

  /** sip.js holds the CANCEL back until the peer has said that it got the INVITE (RFC 3261 §9.1). */
  #cancel(): void {
    const invite = this.#invite;
    this.#timer?.cancel();
    if (invite === null || this.#settled) return;
    invite.cancel();
    this.#options.clock.after(CANCEL_TIMEOUT_MS, () => this.#forget(invite), true);
  }

  /** Nobody answers; sip.js itself would wait for ever. */
  #forget(invite: OutgoingInviteRequest): void {
    if (this.#settled) return;
    this.#settled = true;
    const clients: Map<string, unknown> = this.#options.stack.core.userAgentClients;
    for (const [id, client] of clients) if (client === invite) clients.delete(id);
    invite.dispose();
  }

  #endUpdates(): void {
    if (this.#updates !== null) this.#options.onEarly(this.#updates.id, null);
  }

  #leave(): void {
    this.#endUpdates();
    void this.#media?.close();
    this.#options.onGone();
  }
}
