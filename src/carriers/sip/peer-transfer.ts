/**
 * Transfers that the peer of a call asks us for (REFER, RFC 3515): we call somebody else, the call goes on with that
 * one, and meanwhile the peer is told by NOTIFY what becomes of it.
 */
import type { IncomingReferRequest, IncomingRequestMessage, Session } from 'sip.js/lib/core/index.js';
import { getReasonPhrase } from 'sip.js/lib/core/messages/utils.js';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { asTrunklineError } from '../../foundation/errors.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { LegSwitch } from './leg-switch.ts';
import type { SipStack } from './stack.ts';
import { SipFault } from './wire/fault.ts';
import { NO_REPORT_TAG, type ReferRequest, readRefer } from './wire/refer-request.ts';
import type { SipSource } from './wire/via.ts';

/** How long we tell of a transfer at most: it rings for a minute. */
const REPORTED_S = 90;
/** The BYE of a call that was given on waits for the answer to the last NOTIFY, but no longer than this. */
const LAST_NEWS_MS = 2000;

/** A call to make in the place of one that goes on. */
export interface TransferOrder {
  readonly refer: ReferRequest;
  /** The dialog of whoever asks, and where that one is. */
  readonly session: Session;
  readonly address: string;
  readonly stack: SipStack;
  readonly legs: LegSwitch;
  /** The call's id, for the log. */
  readonly callId: string;
  /** A provisional or final status of the call; nothing comes after a final one. */
  onStatus(statusCode: number): void;
}

/** Who may have calls transferred, and how somebody else is called in them. */
export interface Transfers {
  /** Whether REFER is obeyed at all. */
  readonly takesRefer: boolean;
  /** Whether somebody at this address may say whom we are to call. */
  mayAsk(address: string): boolean;
  /** Whether somebody at this address may take over a call of others. */
  mayTakeOver(address: string): boolean;
  /**
   * Calls; rejects when that was not possible.
   * @throws SipFault when nobody there may be called; nothing has been done then
   */
  dial(order: TransferOrder): Promise<void>;
}

interface PeerTransferOptions extends Pick<TransferOrder, 'session' | 'stack' | 'callId'> {
  /** Where the peer has shown to be. */
  readonly peer: Pick<SipSource, 'address'>;
  readonly transfers: Transfers;
  /** Null = this is no telephone call, or has not begun. */
  legs(): LegSwitch | null;
  readonly clock: Clock;
  /** `Contact: <sip:…>` of ours. */
  readonly contactHeader: string;
  readonly log: Log;
}

/** One transfer that is told of. */
interface Report {
  /** `refer`, with the number of the REFER, since one call may have several (RFC 3515 §2.4.6). */
  readonly event: string;
  isOver: boolean;
  last: number | null;
}

/** The transfers of one dialog, one at a time. */
export class PeerTransfer {
  readonly #options: PeerTransferOptions;
  #report: Report | null = null;
  /** NOTIFYs that wait for their answer. */
  #waiting = 0;
  #afterwards: (() => void) | null = null;
  #timer: Timer | null = null;
  #isTold = false;
  #isClosed = false;

  constructor(options: PeerTransferOptions) {
    this.#options = options;
  }

  /** Answers a REFER. */
  receive(request: IncomingReferRequest): void {
    const { stack, contactHeader } = this.#options;
    const { message } = request;
    try {
      const { transfers, legs } = this.#allowed(message);
      const { source, referTo } = stack.envelopeOf(message);
      const refer = readRefer(message, referTo);
      const report: Report = { event: `refer;id=${message.cseq}`, isOver: false, last: null };
      const onStatus = (statusCode: number): void => this.#tell(report, statusCode, refer.isReported);
      const { session, callId } = this.#options;
      const { address } = source;
      const dialled = transfers.dial({ refer, session, address, stack, legs, callId, onStatus });
      this.#report = report;
      const silent = refer.isReported ? [] : ['Refer-Sub: false', `Supported: ${NO_REPORT_TAG}`];
      request.accept({ statusCode: 202, extraHeaders: [contactHeader, ...silent] });
      onStatus(100);
      dialled.catch((error: unknown) => onStatus(asTrunklineError(error, '').sipStatus));
    } catch (error) {
      this.#refuse(request, error);
    }
  }

  /** Runs `run` when the peer knows what became of the last transfer, or at once where nothing is to be told. */
  whenTold(run: () => void): void {
    if (this.#waiting === 0) {
      run();
      return;
    }
    this.#afterwards = run;
    this.#timer = this.#options.clock.after(LAST_NEWS_MS, () => this.#goOn(), true);
  }

  /** The peer has left: nothing more is told. */
  close(): void {
    this.#isClosed = true;
    this.#afterwards = null;
    this.#timer?.cancel();
  }

  #allowed(message: IncomingRequestMessage): { readonly transfers: Transfers; readonly legs: LegSwitch } {
    const { transfers, stack, peer, legs: find } = this.#options;
    const legs = find();
    if (!transfers.takesRefer || legs === null)
      throw new SipFault('a REFER', 'none: calls are not given on here (SIP_TRANSFERS)', 405);
    // Over UDP whoever is in a call could write the address of a trunk into one packet, but not into its whole call.
    const addresses = [peer.address, stack.envelopeOf(message).source.address];
    if (!addresses.every((address) => transfers.mayAsk(address)))
      throw new SipFault('a REFER of somebody else', 'one of a trunk (SIP_TRANSFERS)', 603);
    if (this.#report?.isOver === false) throw new SipFault('a second REFER', 'one at a time', 491);
    return { transfers, legs };
  }

  #refuse(request: IncomingReferRequest, error: unknown): void {
    const { log, callId, stack } = this.#options;
    const fault = error instanceof SipFault ? error : null;
    const coded = asTrunklineError(error, 'the transfer could not begin');
    const statusCode = fault?.statusCode ?? coded.sipStatus;
    if (fault === null) log.error({ err: error, callId }, 'a SIP transfer could not begin');
    else if (!this.#isTold)
      log.warn({ callId, statusCode, reason: fault.message }, 'a SIP peer wants a call transferred, and is refused');
    this.#isTold = true;
    const headers = statusCode === 405 ? [stack.allowHeader] : [];
    const reasonPhrase = fault?.reason ?? getReasonPhrase(statusCode);
    request.reject({ statusCode, reasonPhrase, extraHeaders: headers });
  }

  /** A NOTIFY with a status of the call that we make (RFC 3420); each is told once. */
  #tell(report: Report, statusCode: number, isReported: boolean): void {
    if (report.isOver || report.last === statusCode) return;
    report.last = statusCode;
    report.isOver = statusCode >= 200;
    if (!isReported || this.#isClosed) return;
    const { session, contactHeader, log, callId } = this.#options;
    const state = report.isOver ? 'terminated;reason=noresource' : `active;expires=${REPORTED_S}`;
    const headers = [`Event: ${report.event}`, `Subscription-State: ${state}`, contactHeader];
    const content = `SIP/2.0 ${statusCode} ${getReasonPhrase(statusCode) || 'Unknown'}\r\n`;
    const body = { contentDisposition: '', contentType: 'message/sipfrag;version=2.0', content };
    const answered = (): void => this.#answered();
    this.#waiting++;
    try {
      session.notify({ onAccept: answered, onReject: answered, onRedirect: answered }, { extraHeaders: headers, body });
    } catch (err) {
      log.debug({ err, callId }, 'what became of a transfer could not be told');
      answered();
    }
  }

  #answered(): void {
    this.#waiting--;
    if (this.#waiting === 0) this.#goOn();
  }

  #goOn(): void {
    this.#timer?.cancel();
    const run = this.#afterwards;
    this.#afterwards = null;
    run?.();
  }
}
