/** What peers ask for: which requests become calls, which are answered at once, and to which call those within a dialog belong. */
import { isIP } from 'node:net';
import {
  type IncomingInviteRequest,
  type IncomingRequestMessage,
  type IncomingResponseMessage,
  NameAddrHeader,
} from 'sip.js/lib/core/index.js';
import { isPublicAddress } from '../../addresses.ts';
import type { SipSource } from '../../carriers/sip.ts';
import { TrunklineError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { CallDialog, Reply } from './dialog.ts';
import { type CallServices, IncomingCall, RETRY_AFTER_S } from './incoming.ts';
import { ALLOW_HEADER, type SipStack, type StackDelegate } from './stack.ts';

/** What a request may demand of us. A session timer (RFC 4028) needs nothing of us while it is the peer who refreshes. */
const SUPPORTED = ['timer'];

interface SwitchboardOptions {
  readonly services: CallServices;
  /** SIP_DIALOGS_MAX */
  readonly dialogsMax: number;
  readonly metrics: Pick<Metrics, 'refused'>;
}

export class Switchboard implements StackDelegate {
  readonly #options: SwitchboardOptions;
  /** Calls of each address that are not over. */
  readonly #callsOf = new Map<string, number>();
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
    const unknown = demandsOf(message).filter((tag) => !SUPPORTED.includes(tag));
    if (unknown.length > 0) {
      stack.core.replyStateless(message, { statusCode: 420, extraHeaders: [`Unsupported: ${unknown.join(', ')}`] });
      return true;
    }
    if (method === 'INVITE') reachAtSource(message, stack.envelopeOf(message).source);
    const reply = method === 'OPTIONS' ? this.#answerOptions() : method === 'UPDATE' ? this.#answerUpdate(message) : null;
    if (reply !== null) stack.core.replyStateless(message, { ...reply });
    return reply !== null;
  }

  onResponse(message: IncomingResponseMessage, source: SipSource): void {
    if (message.method === 'INVITE') reachAtSource(message, source);
  }

  onInvite(request: IncomingInviteRequest, stack: SipStack): void {
    const { address } = stack.envelopeOf(request.message).source;
    const refusal = this.#refusal(address);
    if (refusal !== null) {
      this.#options.metrics.refused.inc({ code: refusal.code });
      request.reject({ statusCode: 503, extraHeaders: [`Retry-After: ${RETRY_AFTER_S}`] });
      return;
    }
    this.#count(address, 1);
    let dialog: CallDialog | null = null;
    const call = new IncomingCall({
      ...this.#options.services,
      request,
      stack,
      onDialog: (opened) => {
        dialog = opened;
        this.remember(opened);
      },
      onGone: () => {
        this.forget(dialog);
        this.#count(address, -1);
      },
    });
    void call.open();
  }

  #refusal(address: string): TrunklineError | null {
    const { services, dialogsMax } = this.#options;
    if ((this.#callsOf.get(address) ?? 0) >= dialogsMax) {
      return new TrunklineError('too_many_calls', `${dialogsMax} calls of one address are open (SIP_DIALOGS_MAX)`);
    }
    try {
      services.registry.admit();
      return null;
    } catch (error) {
      if (error instanceof TrunklineError) return error;
      throw error;
    }
  }

  #count(address: string, change: 1 | -1): void {
    const calls = (this.#callsOf.get(address) ?? 0) + change;
    if (calls === 0) this.#callsOf.delete(address);
    else this.#callsOf.set(address, calls);
  }

  /** Peers ask whether we are there, and send no calls to who is not (RFC 3261 §11.2: the answer is that to an INVITE). */
  #answerOptions(): Reply {
    try {
      this.#options.services.registry.admit();
      return { statusCode: 200, extraHeaders: [ALLOW_HEADER, 'Accept: application/sdp, application/dtmf-relay'] };
    } catch {
      return { statusCode: 503, extraHeaders: [`Retry-After: ${RETRY_AFTER_S}`] };
    }
  }

  #answerUpdate(message: IncomingRequestMessage): Reply {
    const { callId, toTag, fromTag } = message;
    return this.#dialogs.get(callId + toTag + fromTag)?.update(message) ?? { statusCode: 481 };
  }
}

function demandsOf(message: IncomingRequestMessage): string[] {
  return message
    .getHeaders('require')
    .flatMap((value) => value.split(','))
    .map((tag) => tag.trim().toLowerCase())
    .filter((tag) => tag !== '');
}

/**
 * A peer behind a NAT names itself by an address that only its own network knows. What it is to be told later goes to where it spoke from, unless a proxy
 * has asked for it (Record-Route).
 */
function reachAtSource(message: IncomingRequestMessage | IncomingResponseMessage, source: SipSource): void {
  const contact: unknown = message.hasHeader('contact') ? message.parseHeader('contact') : undefined;
  if (!(contact instanceof NameAddrHeader) || message.hasHeader('record-route')) return;
  const host = contact.uri.host.replace(/^\[|\]$/g, '');
  if (isIP(host) === 0 || isPublicAddress(host) || host === source.address) return;
  contact.uri.host = source.address.includes(':') ? `[${source.address}]` : source.address;
  contact.uri.port = source.port;
}
