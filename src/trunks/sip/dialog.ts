/** The dialog of an answered call: what the peer asks for within it, and its end from either side. */
import type {
  Body,
  IncomingAckRequest,
  IncomingByeRequest,
  IncomingInfoRequest,
  IncomingInviteRequest,
  IncomingRequestMessage,
  Session,
} from 'sip.js/lib/core/index.js';
import type { LegEnd } from '../../carriers/leg.ts';
import { TrunklineError } from '../../errors.ts';
import type { CallMedia } from './media.ts';

const SDP = 'application/sdp';
const DTMF_DIGIT = /^[0-9*#A-D]$/;

/** An answer that needs no transaction of its own. */
export interface Reply {
  readonly statusCode: number;
  readonly extraHeaders?: string[];
  readonly body?: Body;
}

/** What a dialog tells its call. */
export interface DialogCall {
  digit(digit: string): void;
  /** The peer has ended the call. */
  leave(): void;
  /** The call is over, as `end` says. */
  end(end: LegEnd): void;
  /** The call cannot go on. */
  fail(error: TrunklineError): void;
}

interface DialogOptions {
  readonly session: Session;
  readonly media: CallMedia;
  readonly call: DialogCall;
  /** Whether the peer knows that we know: false for a call of its own until its ACK comes. */
  readonly confirmed: boolean;
  /** `Contact: <sip:…>` of ours. */
  readonly contactHeader: string;
  /** Where a request of the peer came from. */
  addressOf(message: IncomingRequestMessage): string;
  /** The peer has acknowledged our answer to its INVITE, and media flow. Once; never when it was we who called. */
  onAcknowledged(): void;
}

/** A session description of ours as sip.js wants it. */
export function sdpBody(content: string): Body {
  return { contentDisposition: 'session', contentType: SDP, content };
}

/** The session description in a message; null when there is none or something else. */
export function sdpIn(message: { body: string; getHeader(name: string): string | undefined }): string | null {
  const type = message.getHeader('content-type')?.split(';')[0]?.trim().toLowerCase();
  return message.body !== '' && type === SDP ? message.body : null;
}

export class CallDialog {
  readonly #options: DialogOptions;
  #confirmed: boolean;
  /** Our offer is out, its answer comes with the ACK. */
  #offering: boolean;
  /** `ours` = a BYE is to be sent, or was; `theirs` = one came. */
  #over: 'no' | 'ours' | 'theirs' = 'no';
  #lastUpdate: { readonly cseq: number; readonly reply: Reply } | null = null;

  /** `offering` = we made the offer in our answer to an INVITE without one. */
  constructor(options: DialogOptions & { readonly offering: boolean }) {
    this.#options = options;
    this.#confirmed = options.confirmed;
    this.#offering = options.offering;
    options.session.delegate = {
      onAck: (request) => this.#onAck(request),
      onAckTimeout: () => this.#onAckTimeout(),
      onBye: (request) => this.#onBye(request),
      onInvite: (request) => this.#onInvite(request),
      onInfo: (request) => this.#onInfo(request),
    };
  }

  get id(): string {
    return this.#options.session.id;
  }

  /** Tells the peer that the call is over, as soon as that is allowed (RFC 3261 §15: not before its ACK). Nothing when it was the peer who said so. */
  hangUp(): void {
    if (this.#over !== 'no') return;
    this.#over = 'ours';
    if (this.#confirmed) this.#options.session.bye();
  }

  /** The answer to an UPDATE (RFC 3311): another offer, or only a sign of life for a session timer. */
  update(message: IncomingRequestMessage): Reply {
    if (this.#lastUpdate?.cseq === message.cseq) return this.#lastUpdate.reply;
    if (message.cseq < (this.#lastUpdate?.cseq ?? 0)) return { statusCode: 500 };
    const reply = this.#answerUpdate(message);
    this.#lastUpdate = { cseq: message.cseq, reply };
    return reply;
  }

  #answerUpdate(message: IncomingRequestMessage): Reply {
    const { media, contactHeader, addressOf } = this.#options;
    const offer = sdpIn(message);
    if (offer === null) return { statusCode: 200, extraHeaders: [contactHeader] };
    if (this.#offering) return { statusCode: 491 };
    try {
      return { statusCode: 200, extraHeaders: [contactHeader], body: sdpBody(media.answer(offer, addressOf(message))) };
    } catch (error) {
      return { statusCode: refusalStatus(error) };
    }
  }

  #onAck({ message }: IncomingAckRequest): void {
    const isFirst = !this.#confirmed;
    this.#confirmed = true;
    if (this.#over === 'ours') {
      this.#options.session.bye();
      return;
    }
    const { media, call, addressOf, onAcknowledged } = this.#options;
    const isAnswer = this.#offering;
    this.#offering = false;
    try {
      if (isAnswer) media.accept(sdpIn(message) ?? '', addressOf(message));
      if (!isFirst) return;
      media.start();
      onAcknowledged();
    } catch (error) {
      call.fail(error instanceof TrunklineError ? error : new TrunklineError('internal', 'the answer could not be used'));
    }
  }

  /** Called by a timer of sip.js. */
  #onAckTimeout(): void {
    if (this.#over === 'theirs' || this.#confirmed) return;
    this.#confirmed = true;
    if (this.#over === 'ours') this.#options.session.bye();
    this.#options.call.end({ reason: 'lost', code: null, error: null });
  }

  #onBye(request: IncomingByeRequest): void {
    const wasOver = this.#over !== 'no';
    this.#over = 'theirs';
    request.accept();
    if (!wasOver) this.#options.call.leave();
  }

  /** Hold, another address or another codec; or, with no offer, a question what we would offer. */
  #onInvite(request: IncomingInviteRequest): void {
    const { media, contactHeader, addressOf } = this.#options;
    const offer = sdpIn(request.message);
    if (this.#over !== 'no') {
      request.reject({ statusCode: 481 });
      return;
    }
    if (this.#offering) {
      request.reject({ statusCode: 491 });
      return;
    }
    try {
      const sdp = offer === null ? media.offer() : media.answer(offer, addressOf(request.message));
      request.accept({ statusCode: 200, extraHeaders: [contactHeader], body: sdpBody(sdp) });
      this.#offering = offer === null;
    } catch (error) {
      request.reject({ statusCode: refusalStatus(error) });
    }
  }

  /** Keys as some gateways send them: `application/dtmf-relay` ("Signal=5") and `application/dtmf` ("5"). */
  #onInfo(request: IncomingInfoRequest): void {
    const { body, getHeader } = request.message;
    const type = getHeader.call(request.message, 'content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
    if (body === '' || type === '') {
      request.accept();
      return;
    }
    if (type !== 'application/dtmf-relay' && type !== 'application/dtmf') {
      request.reject({ statusCode: 415, extraHeaders: ['Accept: application/dtmf-relay, application/dtmf'] });
      return;
    }
    request.accept();
    const digit = (type === 'application/dtmf' ? body : (/^\s*Signal\s*=\s*(\S+)/im.exec(body)?.[1] ?? '')).trim().toUpperCase();
    if (DTMF_DIGIT.test(digit)) this.#options.call.digit(digit);
  }
}

/** The status by which an offer is refused; the call goes on as it was. */
export function refusalStatus(error: unknown): number {
  if (!(error instanceof TrunklineError)) return 500;
  switch (error.code) {
    case 'codec_unsupported':
      return 488;
    case 'message_malformed':
      return 400;
    case 'message_too_large':
      return 413;
    case 'too_many_calls':
    case 'draining':
    case 'engine_unavailable':
      return 503;
    default:
      return 500;
  }
}
