/**
 * Requests of peers: which become calls, which are answered at once, and which call a request in a dialog belongs to.
 */
import { isIP } from 'node:net';
import {
  type IncomingInviteRequest,
  type IncomingRequestMessage,
  type IncomingResponseMessage,
  NameAddrHeader,
} from 'sip.js/lib/core/index.js';
import { isPublicAddress } from '../../foundation/addresses.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { bodyRefusal } from '../../protocols/sip/bodies.ts';
import { RELIABLE_TAG } from '../../protocols/sip/reliable.ts';
import { TIMER_TAG } from '../../protocols/sip/session-timer.ts';
import type { SipSource } from '../../protocols/sip/via.ts';
import { SIPREC_TAG } from '../../protocols/siprec/recording-request.ts';
import type { CallDialog, Reply } from './dialog.ts';
import { type CallServices, IncomingCall, RETRY_AFTER_S } from './incoming.ts';
import { kindOf } from './kind-of-call.ts';
import { ALLOW_HEADER } from './methods.ts';
import type { SipStack, StackDelegate } from './stack.ts';

/** Option tags that a request may require. Of provisional answers we send only 100, which is never reliable. */
const SUPPORTED = [TIMER_TAG, SIPREC_TAG, RELIABLE_TAG];

/** The bodies that we read, for who asks by OPTIONS. */
const ACCEPT_HEADER = 'Accept: application/sdp, application/dtmf-relay, application/rs-metadata+xml, multipart/mixed';

interface SwitchboardOptions {
  readonly services: CallServices;
  /** SIP_DIALOGS_MAX */
  readonly dialogsMax: number;
  /** Calls of one address that may wait for the ACK of our answer. */
  readonly unacknowledgedMax: number;
  readonly metrics: Pick<Metrics, 'refused' | 'sipDropped'>;
  /** Somebody at this address asks by OPTIONS whether we are there. */
  onAsked(address: string): void;
}

/** The calls of one address. */
interface Source {
  /** Calls that are not over. */
  calls: number;
  /** Those of them that have not begun: our answer, which is repeated until then, has not been acknowledged. */
  readonly unacknowledged: Set<IncomingCall>;
  /** The log has said that it may have no more. */
  isTold: boolean;
}

export class Switchboard implements StackDelegate {
  readonly #options: SwitchboardOptions;
  /** Addresses that have calls. */
  readonly #sources = new Map<string, Source>();
  readonly #dialogs = new Map<string, CallDialog>();

  constructor(options: SwitchboardOptions) {
    this.#options = options;
  }

  /** Requests within this dialog find it until {@link forget}. */
  remember(dialog: CallDialog): void {
    this.#dialogs.set(dialog.id, dialog);
  }

  forget(dialog: CallDialog | null): void {
    if (dialog !== null) this.#dialogs.delete(dialog.id);
  }

  onRequest(message: IncomingRequestMessage, stack: SipStack): boolean {
    const { method } = message;
    if (method === 'ACK' || method === 'CANCEL') return false;
    const unknown = requiredTagsOf(message).filter((tag) => !SUPPORTED.includes(tag));
    if (unknown.length > 0) {
      stack.core.replyStateless(message, { statusCode: 420, extraHeaders: [`Unsupported: ${unknown.join(', ')}`] });
      return true;
    }
    const refusal = bodyRefusal(message);
    if (refusal !== null) {
      stack.core.replyStateless(message, { ...refusal });
      return true;
    }
    if (method === 'INVITE' && this.#refusesCall(message, stack)) return true;
    if (method === 'INVITE') reachAtSource(message, stack.envelopeOf(message).source);
    if (method === 'OPTIONS') this.#options.onAsked(stack.envelopeOf(message).source.address);
    const reply =
      method === 'OPTIONS' ? this.#answerOptions() : method === 'UPDATE' ? this.#answerUpdate(message) : null;
    if (reply !== null) stack.core.replyStateless(message, { ...reply });
    return reply !== null;
  }

  onResponse(message: IncomingResponseMessage, source: SipSource): void {
    // Contact of 301 and 302 is not the peer itself, but whom to call in its place.
    if (message.method === 'INVITE' && (message.statusCode ?? 500) < 300) reachAtSource(message, source);
  }

  onInvite(request: IncomingInviteRequest, stack: SipStack): void {
    const { address } = stack.envelopeOf(request.message).source;
    const source = this.#sources.get(address) ?? { calls: 0, unacknowledged: new Set(), isTold: false };
    this.#sources.set(address, source);
    let dialog: CallDialog | null = null;
    const call: IncomingCall = new IncomingCall({
      ...this.#options.services,
      request,
      stack,
      kind: kindOf(request, stack, this.#options.services),
      onDialog: (opened) => {
        dialog = opened;
        this.remember(opened);
      },
      onAcknowledged: () => void source.unacknowledged.delete(call),
      onGone: () => {
        this.forget(dialog);
        source.calls--;
        source.unacknowledged.delete(call);
        if (source.calls === 0) this.#sources.delete(address);
      },
    });
    source.calls++;
    source.unacknowledged.add(call);
    void call.open();
  }

  /** Releases the calls that have not begun: nothing else knows them. */
  close(): void {
    for (const { unacknowledged } of [...this.#sources.values()])
      for (const call of [...unacknowledged]) call.release(null);
  }

  /**
   * Whether there is no room for a new call. It is said without a transaction, which would repeat it to an address that
   * may be forged. A source that acknowledges too little is not even told: on UDP it asks again after half a second,
   * and most of its calls have begun by then.
   */
  #refusesCall(message: IncomingRequestMessage, stack: SipStack): boolean {
    if (message.toTag || stack.core.userAgentServers.has(message.viaBranch)) return false;
    const { metrics } = this.#options;
    const { address, protocol } = stack.envelopeOf(message).source;
    const source = this.#sources.get(address);
    if (protocol === 'UDP' && this.#acknowledgesTooLittle(source)) {
      metrics.sipDropped.inc({ reason: 'unacknowledged' });
      return true;
    }
    const refusal = this.#refusal(source, address);
    if (refusal === null) return false;
    metrics.refused.inc({ code: refusal.code });
    stack.core.replyStateless(message, { statusCode: 503, extraHeaders: [`Retry-After: ${RETRY_AFTER_S}`] });
    return true;
  }

  #acknowledgesTooLittle(source: Source | undefined): boolean {
    return (source?.unacknowledged.size ?? 0) >= this.#options.unacknowledgedMax;
  }

  #refusal(source: Source | undefined, address: string): TrunklineError | null {
    const { services, dialogsMax } = this.#options;
    if (this.#acknowledgesTooLittle(source))
      return new TrunklineError('too_many_calls', 'too many calls of this address wait for an ACK');
    if (source !== undefined && source.calls >= dialogsMax) {
      // A session border controller sends all that it records from one address.
      if (!source.isTold)
        services.log.warn({ address, dialogsMax }, 'an address has as many calls as SIP_DIALOGS_MAX allows');
      source.isTold = true;
      return new TrunklineError('too_many_calls', `${dialogsMax} calls of one address are open (SIP_DIALOGS_MAX)`);
    }
    try {
      services.registry.admit(source?.unacknowledged.size);
      return null;
    } catch (error) {
      if (error instanceof TrunklineError) return error;
      throw error;
    }
  }

  /**
   * Peers ask whether we are there, and send no calls to who is not (RFC 3261 §11.2: the answer is that to an INVITE).
   */
  #answerOptions(): Reply {
    try {
      this.#options.services.registry.admit();
      return { statusCode: 200, extraHeaders: [ALLOW_HEADER, ACCEPT_HEADER] };
    } catch {
      return { statusCode: 503, extraHeaders: [`Retry-After: ${RETRY_AFTER_S}`] };
    }
  }

  #answerUpdate(message: IncomingRequestMessage): Reply {
    const { callId, toTag, fromTag } = message;
    return this.#dialogs.get(callId + toTag + fromTag)?.update(message) ?? { statusCode: 481 };
  }
}

function requiredTagsOf(message: IncomingRequestMessage): string[] {
  return message
    .getHeaders('require')
    .flatMap((value) => value.split(','))
    .map((tag) => tag.trim().toLowerCase())
    .filter((tag) => tag !== '');
}

/**
 * A peer behind a NAT names itself by an address that only its own network knows. What it is to be told later goes to
 * where it spoke from, unless a proxy has asked for it (Record-Route).
 */
function reachAtSource(message: IncomingRequestMessage | IncomingResponseMessage, source: SipSource): void {
  const contact: unknown = message.hasHeader('contact') ? message.parseHeader('contact') : undefined;
  if (!(contact instanceof NameAddrHeader) || message.hasHeader('record-route')) return;
  const host = contact.uri.host.replace(/^\[|\]$/g, '');
  if (isIP(host) === 0 || isPublicAddress(host) || host === source.address) return;
  contact.uri.host = source.address.includes(':') ? `[${source.address}]` : source.address;
  contact.uri.port = source.port;
}
