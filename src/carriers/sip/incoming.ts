/** A call that a peer makes: from its INVITE by our answer to its ACK, with which it begins. */

import type { IncomingInviteRequest } from 'sip.js/lib/core/index.js';
import type { LegHandlers, TransferOutcome, TransferRequest } from '../../calls/leg.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import { asTrunklineError, TrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import { CallDialog, type SessionTimerServices } from './dialog.ts';
import type { IncomingKind, IncomingMedia } from './incoming-kind.ts';
import { type DialogListener, type LegOwner, SipLeg } from './leg.ts';
import { LegSwitch } from './leg-switch.ts';
import type { MediaSession } from './media.ts';
import { withAllowed } from './methods.ts';
import { withContact } from './own-contact.ts';
import type { Transfers } from './peer-transfer.ts';
import { timerHeadersOf, tooSmall } from './session-timer.ts';
import type { SipStack } from './stack.ts';
import { sdpBody, sdpIn } from './wire/bodies.ts';
import { callIdOf } from './wire/call-identity.ts';
import type { SrtpPolicy } from './wire/crypto-lines.ts';
import type { RtpCodecName } from './wire/rtp-codecs.ts';
import { answerHeaders, answerTerms } from './wire/session-timer.ts';
import type { SipSource } from './wire/via.ts';

/** When a peer that we have no room for may come again. */
export const RETRY_AFTER_S = 10;

/** How media are opened: the port is bound when the promise resolves. */
export type OpenMedia = () => Promise<MediaSession>;

/** What calls in both directions need. */
export interface CallServices {
  readonly registry: Pick<CallRegistry, 'accept' | 'admit'>;
  readonly openMedia: OpenMedia;
  /** The same for a stream of a recording, in which nothing may come for hours once it has begun. */
  readonly openRecordingMedia: OpenMedia;
  /** Where peers are to send media. */
  readonly mediaAddress: string;
  /** What we take, best first (SIP_CODECS). */
  readonly codecs: readonly RtpCodecName[];
  /** Names by which we are known to registrars and trunks. */
  readonly ownUsers: readonly string[];
  readonly timers: SessionTimerServices;
  /** SIP_SRTP */
  readonly srtp: SrtpPolicy;
  readonly transfers: Transfers;
  readonly log: Log;
}

interface IncomingOptions extends CallServices {
  readonly request: IncomingInviteRequest;
  readonly stack: SipStack;
  /** What the call is to become. */
  readonly kind: IncomingKind;
  /** The call goes on in the place of this one (Replaces); null = it is a new one. */
  readonly replaced: CallDialog | null;
  /** The peer is known from now on by this dialog. */
  onDialog(dialog: CallDialog): void;
  /** The peer has acknowledged the answer. Once, unless the call is gone before. */
  onAcknowledged(): void;
  /** The INVITE was refused by us, with this status. Once. */
  onRefused(error: TrunklineError, statusCode: number): void;
  /** Everything of the call is released. Once. */
  onGone(): void;
}

/**
 * Until the ACK has come nothing shows that the peer is where its INVITE says: over UDP anybody can write any address
 * there. So there is an answer and a port by then, and neither a call nor a packet.
 */
export class IncomingCall implements LegOwner, DialogListener {
  readonly #options: IncomingOptions;
  #leg: SipLeg | null = null;
  #legs: LegSwitch | null = null;
  #media: IncomingMedia | null = null;
  #dialog: CallDialog | null = null;
  /** Whether the INVITE has had its final answer. */
  #replied = false;
  #gone = false;

  constructor(options: IncomingOptions) {
    this.#options = options;
    options.request.delegate = { onCancel: () => this.#cancel() };
  }

  /** Answers the INVITE, or refuses it. Never rejects. */
  async open(): Promise<void> {
    const { request, kind } = this.#options;
    try {
      request.trying();
      this.#media = await kind.open();
      if (this.#gone) void this.#media.close();
      else this.#answer(this.#media);
    } catch (error) {
      const coded = asTrunklineError(error, 'the call could not be answered');
      if (coded !== error) this.#options.log.error({ err: error }, 'a SIP call could not be answered');
      this.#refuse(coded);
    }
  }

  release(error: TrunklineError | null): void {
    this.#dialog?.hangUp();
    this.#refuse(error ?? new TrunklineError('draining', 'the call was ended before it was answered'));
  }

  async transfer(request: TransferRequest): Promise<TransferOutcome> {
    return (await this.#dialog?.transfer(request)) ?? 'unsupported';
  }

  receiveDigit(): void {}

  hold(): void {}

  leave(): void {
    this.#leave();
  }

  end(): void {
    const { address } = this.#source;
    this.#options.log.warn({ address }, 'a SIP peer never acknowledged the answer: can it reach SIP_PUBLIC_ADDRESS?');
    this.release(null);
  }

  /** Until the call has begun, or because it could not begin. */
  fail(error: TrunklineError): void {
    if (this.#leg === null) this.release(error);
    else this.#leg.fail(error);
  }

  get #source(): SipSource {
    return this.#options.stack.envelopeOf(this.#options.request.message).source;
  }

  /** Everything here happens at once: nothing can come in between the agreement and the answer. */
  #answer(media: IncomingMedia): void {
    const { request, stack, kind } = this.#options;
    const offer = sdpIn(request.message);
    if (offer === null && request.message.body !== '') {
      this.#reject(415, ['Accept: application/sdp']);
      this.#leave();
      return;
    }
    const { timers, transfers, log } = this.#options;
    const terms = answerTerms(timerHeadersOf(request.message), timers.wantedS);
    if (terms === 'too-small') {
      const { statusCode, extraHeaders } = tooSmall();
      this.#reject(statusCode, extraHeaders);
      this.#leave();
      return;
    }
    const sdp = offer === null ? media.offer() : media.answer(offer, this.#source.address);
    const ownContact = stack.contactAs(stack.schemeOf(request.message)).toString();
    const contact = `<${ownContact}>${kind.features}`;
    const extraHeaders = [...answerHeaders(terms), ...kind.headers];
    const accept = { statusCode: 200, extraHeaders, body: sdpBody(sdp) };
    const { session } = withAllowed(stack.allowHeader.slice('Allow: '.length), () =>
      withContact(stack.core, contact, () => request.accept(accept)),
    );
    this.#replied = true;
    const callId = callIdOf(request.message.callId);
    this.#dialog = new CallDialog({
      session,
      media,
      listener: this,
      contactHeader: `Contact: ${contact}`,
      timers,
      credentials: null,
      confirmed: false,
      offering: offer === null,
      stack,
      peer: this.#source,
      transfers,
      legs: () => (this.#legs?.isLive(this.#leg) === true && kind.carrier === 'sip' ? this.#legs : null),
      callId,
      read: (message) => kind.read?.(message),
      question: () => kind.question?.() ?? null,
      log: log.child({ callId }),
      onAcknowledged: () => this.#begin(media),
    });
    this.#dialog.timer.answered(request.message, terms);
    this.#options.onDialog(this.#dialog);
  }

  /** The call begins. Its leg takes over from here. */
  #begin(media: IncomingMedia): DialogListener {
    const { registry, onAcknowledged, kind, replaced, timers } = this.#options;
    onAcknowledged();
    const connect = (handlers: LegHandlers): SipLeg => {
      this.#leg = new SipLeg({ owner: this, media: media.sink, handlers });
      return this.#leg;
    };
    if (replaced === null) {
      const open = (handlers: LegHandlers): LegSwitch => {
        this.#legs = LegSwitch.open(handlers, timers.clock, connect);
        return this.#legs;
      };
      registry.accept({ carrier: kind.carrier, tokenRequired: false, trusted: false, connect: open });
    } else {
      this.#legs = replaced.legs;
      if (this.#legs === null) throw new TrunklineError('invalid_request', 'the call to be replaced is over');
      this.#legs.follow({ by: 'replaces', kind: 'attended' }, connect);
    }
    if (this.#leg === null) return this;
    media.start(this.#leg);
    const start = media.describe();
    if (start !== null) this.#leg.begin(start);
    return this.#leg;
  }

  /** The peer has thought better of it. sip.js has answered the CANCEL; the INVITE is ours. */
  #cancel(): void {
    this.#reject(487);
    this.#leave();
  }

  #refuse(error: TrunklineError): void {
    const statusCode = error.sipStatus;
    if (!this.#replied) this.#options.onRefused(error, statusCode);
    this.#reject(statusCode, statusCode === 503 ? [`Retry-After: ${RETRY_AFTER_S}`] : []);
    this.#leave();
  }

  #reject(statusCode: number, extraHeaders: string[] = []): void {
    if (this.#replied) return;
    this.#replied = true;
    try {
      this.#options.request.reject({ statusCode, extraHeaders });
    } catch (err) {
      // The transaction is over already: nobody waits for an answer any more.
      this.#options.log.debug({ err }, 'a SIP call could not be refused');
    }
  }

  #leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    void this.#media?.close();
    this.#options.onGone();
  }
}
