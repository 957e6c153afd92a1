/**
 * Requests of peers: which become calls, which are answered at once, and which call a request in a dialog belongs to.
 */
import type { IncomingInviteRequest, IncomingRequestMessage, IncomingResponseMessage } from 'sip.js/lib/core/index.js';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { CallDialog } from './dialog.ts';
import type { EarlyDialog, Reply } from './early-dialog.ts';
import { type CallServices, IncomingCall, RETRY_AFTER_S } from './incoming.ts';
import { kindOf } from './kind-of-call.ts';
import type { RefusalLog, SipRefused } from './refusal-log.ts';
import { reachAtSource } from './remote-target.ts';
import type { SourceLimit } from './source-limits.ts';
import type { SipStack, StackDelegate } from './stack.ts';
import { bodyRefusal } from './wire/bodies.ts';
import { SipFault } from './wire/fault.ts';
import { optionTagsIn } from './wire/headers.ts';
import { NO_REPORT_TAG } from './wire/refer-request.ts';
import { RELIABLE_TAG } from './wire/reliable.ts';
import { REPLACES_TAG, replacedBy } from './wire/replaces.ts';
import { TIMER_TAG } from './wire/session-timer.ts';
import { SIPREC_TAG } from './wire/siprec/recording-request.ts';
import type { SipSource } from './wire/via.ts';

/** Option tags that a request may require. Of provisional answers we send only 100, which is never reliable. */
const SUPPORTED = [TIMER_TAG, SIPREC_TAG, RELIABLE_TAG, REPLACES_TAG, NO_REPORT_TAG];

/** The bodies that we read, for who asks by OPTIONS. */
const ACCEPT_HEADER = 'Accept: application/sdp, application/dtmf-relay, application/rs-metadata+xml, multipart/mixed';

interface SwitchboardOptions {
  readonly services: CallServices;
  /** What an address may have. */
  limitOf(address: string): Pick<SourceLimit, 'dialogs' | 'unacknowledged'>;
  readonly refusals: RefusalLog;
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
}

export class Switchboard implements StackDelegate {
  readonly #options: SwitchboardOptions;
  /** Addresses that have calls. */
  readonly #sources = new Map<string, Source>();
  readonly #dialogs = new Map<string, CallDialog>();
  /** Calls of ours that are not answered, by Call-ID and our tag. */
  readonly #early = new Map<string, EarlyDialog>();

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

  /** UPDATEs of the call with this Call-ID and tag of ours, which is not answered yet, find it; null = no longer. */
  setEarly(id: string, early: EarlyDialog | null): void {
    if (early === null) this.#early.delete(id);
    else this.#early.set(id, early);
  }

  onRequest(message: IncomingRequestMessage, stack: SipStack): boolean {
    const { method } = message;
    if (method === 'ACK' || method === 'CANCEL') return false;
    const unknown = optionTagsIn(message.getHeaders('require')).filter((tag) => !SUPPORTED.includes(tag));
    if (unknown.length > 0) {
      this.#explain(message, stack, 420, { reason: 'it requires an extension that is unknown here' });
      stack.core.replyStateless(message, { statusCode: 420, extraHeaders: [`Unsupported: ${unknown.join(', ')}`] });
      return true;
    }
    const refusal = bodyRefusal(message);
    if (refusal !== null) {
      stack.core.replyStateless(message, { ...refusal });
      return true;
    }
    if (method === 'INVITE' && this.#refusesCall(message, stack)) return true;
    if (method === 'INVITE' || method === 'UPDATE')
      reachAtSource(message, stack.envelopeOf(message).source, stack.core.dialogs.get(idOf(message)));
    if (method === 'OPTIONS') this.#options.onAsked(stack.envelopeOf(message).source.address);
    const reply = this.#answer(message, stack);
    if (reply !== null) stack.core.replyStateless(message, { ...reply });
    return reply !== null;
  }

  /** Requests that need no transaction; null = the message is another one. */
  #answer(message: IncomingRequestMessage, stack: SipStack): Reply | null {
    const { method, toTag } = message;
    if (method === 'OPTIONS') return this.#answerOptions(stack);
    if (method === 'UPDATE') return this.#answerUpdate(message, stack);
    if (method !== 'REFER' || toTag) return null;
    // Who wants a call transferred must be in it.
    if (this.#options.services.transfers.takesRefer) return { statusCode: 403 };
    return { statusCode: 405, extraHeaders: [stack.allowHeader] };
  }

  onResponse(message: IncomingResponseMessage, source: SipSource): void {
    // Contact of 301 and 302 is not the peer itself, but whom to call in its place.
    if (message.method === 'INVITE' && (message.statusCode ?? 500) < 300) reachAtSource(message, source);
  }

  onInvite(request: IncomingInviteRequest, stack: SipStack): void {
    const { services } = this.#options;
    const { address } = stack.envelopeOf(request.message).source;
    const replaced = this.#replaced(request.message, stack);
    const kind = kindOf(request, stack, services, replaced?.legs?.codec ?? null);
    if (replaced !== null && kind.carrier !== 'sip') {
      this.#explain(request.message, stack, 488, { reason: 'a recording cannot replace a call' });
      request.reject({ statusCode: 488 });
      return;
    }
    const source = this.#sources.get(address) ?? { calls: 0, unacknowledged: new Set() };
    this.#sources.set(address, source);
    let dialog: CallDialog | null = null;
    const call: IncomingCall = new IncomingCall({
      ...services,
      request,
      stack,
      kind,
      replaced,
      onDialog: (opened) => {
        dialog = opened;
        this.remember(opened);
      },
      onRefused: ({ code, message: reason }, statusCode) =>
        // What came stays out of the log, but for streams: it may be a key.
        this.#explain(request.message, stack, statusCode, code === 'codec_unsupported' ? { code, reason } : { code }),
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
    if (protocol === 'UDP' && this.#acknowledgesTooLittle(source, address)) {
      metrics.sipDropped.inc({ reason: 'unacknowledged' });
      this.#options.refusals.dropped('unacknowledged', address);
      return true;
    }
    const replaced = this.#checkReplaced(message, stack);
    if (replaced instanceof SipFault) {
      const { statusCode, reason } = replaced;
      this.#explain(message, stack, statusCode, { reason });
      stack.core.replyStateless(message, { statusCode, reasonPhrase: reason });
      return true;
    }
    const refusal = this.#refusal(source, address, replaced !== null);
    if (refusal === null) return false;
    metrics.refused.inc({ code: refusal.code });
    this.#explain(message, stack, 503, { code: refusal.code, reason: refusal.message });
    stack.core.replyStateless(message, { statusCode: 503, extraHeaders: [`Retry-After: ${RETRY_AFTER_S}`] });
    return true;
  }

  /** Tells the log of a refusal before it is sent. */
  #explain(
    message: IncomingRequestMessage,
    stack: SipStack,
    statusCode: number,
    why: Pick<SipRefused, 'code' | 'reason'>,
  ): void {
    if (message.method !== 'INVITE') return;
    const { address } = stack.envelopeOf(message).source;
    const isWithin = message.toTag !== undefined && message.toTag !== '';
    this.#options.refusals.refused({ callId: message.callId, address, statusCode, isWithin, ...why });
  }

  #checkReplaced(message: IncomingRequestMessage, stack: SipStack): CallDialog | SipFault | null {
    try {
      return this.#replaced(message, stack);
    } catch (error) {
      if (error instanceof SipFault) return error;
      throw error;
    }
  }

  /**
   * The dialog in whose place the call comes (RFC 3891 §3); null = it is a new call. Whoever knows the tags of a call
   * may have read them on the way, so only its own peer and trunks may take it over, and nobody leads it off TLS.
   * @throws SipFault
   */
  #replaced(message: IncomingRequestMessage, stack: SipStack): CallDialog | null {
    const wanted = replacedBy(message);
    if (wanted === null) return null;
    const { address } = stack.envelopeOf(message).source;
    const dialog = this.#dialogs.get(wanted.callId + wanted.toTag + wanted.fromTag);
    if (dialog === undefined || dialog.legs === null)
      throw new SipFault('a Replaces of no call', 'the Call-ID and tags of one that is live', 481);
    if (wanted.isEarlyOnly) throw new SipFault('a Replaces of an answered call', 'none, for early-only', 486);
    const { peer } = dialog;
    if (peer.address !== address && !this.#options.services.transfers.mayTakeOver(address))
      throw new SipFault('a Replaces from elsewhere', 'one of the same peer or of a trunk (SIP_TRANSFERS)', 403);
    if (peer.protocol === 'TLS' && stack.protocol !== 'TLS')
      throw new SipFault('a Replaces without TLS', 'TLS as in the call', 403);
    return dialog;
  }

  #acknowledgesTooLittle(source: Source | undefined, address: string): boolean {
    return (source?.unacknowledged.size ?? 0) >= this.#options.limitOf(address).unacknowledged;
  }

  #refusal(source: Source | undefined, address: string, isReplacing: boolean): TrunklineError | null {
    const { services, limitOf } = this.#options;
    if (this.#acknowledgesTooLittle(source, address))
      return new TrunklineError('too_many_calls', 'too many calls of this address wait for an ACK');
    const { dialogs } = limitOf(address);
    // A session border controller sends all that it records from one address.
    if (source !== undefined && source.calls >= dialogs)
      return new TrunklineError('too_many_calls', `${dialogs} calls of one address are open, the most allowed`);
    try {
      // A call that replaces another one takes its place.
      if (!isReplacing) services.registry.admit(source?.unacknowledged.size);
      return null;
    } catch (error) {
      if (error instanceof TrunklineError) return error;
      throw error;
    }
  }

  /**
   * Peers ask whether we are there, and send no calls to who is not (RFC 3261 §11.2: the answer is that to an INVITE).
   */
  #answerOptions({ allowHeader }: SipStack): Reply {
    try {
      this.#options.services.registry.admit();
      return { statusCode: 200, extraHeaders: [allowHeader, ACCEPT_HEADER] };
    } catch {
      return { statusCode: 503, extraHeaders: [`Retry-After: ${RETRY_AFTER_S}`] };
    }
  }

  #answerUpdate(message: IncomingRequestMessage, { core }: SipStack): Reply {
    const { callId, toTag } = message;
    const id = idOf(message);
    const known = core.dialogs.get(id);
    const dialog = this.#dialogs.get(id) ?? (known === undefined ? undefined : this.#early.get(callId + toTag));
    return dialog?.update(message, known) ?? { statusCode: 481 };
  }
}

/** The name of a request's dialog in sip.js. */
function idOf({ callId, toTag, fromTag }: IncomingRequestMessage): string {
  return callId + toTag + fromTag;
}
