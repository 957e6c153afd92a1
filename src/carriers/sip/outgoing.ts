/** A call that we make through registrars and trunks: from the first INVITE to the dialog, or to nothing. */
import { randomUUID } from 'node:crypto';
import type { Session } from 'sip.js/lib/core/index.js';
import type { LegHandlers, SipAnswer, TransferOutcome, TransferRequest } from '../../calls/leg.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { asTrunklineError, TrunklineError } from '../../foundation/errors.ts';
import type { CallStart } from '../../protocols/dialect.ts';
import { CallDialog } from './dialog.ts';
import type { EarlyDialog } from './early-dialog.ts';
import type { CallServices } from './incoming.ts';
import { type Accepted, type CallWay, Invitation, type InvitationFailure } from './invitation.ts';
import { type LegOwner, SipLeg } from './leg.ts';
import { LegSwitch } from './leg-switch.ts';
import type { CallMedia, MediaSession } from './media.ts';
import { sdpIn } from './wire/bodies.ts';
import { failureOf } from './wire/refer.ts';

/** How long it may ring, unless the request says otherwise. */
export const RING_TIMEOUT_MS = 60_000;
/** A trunk that gives no sign for so long is given up while there is another one. On UDP it was asked four times. */
export const PATIENCE_MS = 5000;

/** Whom to call as whom, and how the call is to be held. */
export interface OutgoingCallRequest {
  readonly callId: string;
  readonly to: string;
  readonly from: string | null;
  readonly parameters: Readonly<Record<string, string>>;
  /** How long it may ring, over all trunks; left out = {@link RING_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
}

/** The call is made in the place of one that goes on. */
export interface OutgoingTransfer {
  readonly legs: LegSwitch;
  /** Whether whoever is called was spoken with before. */
  readonly kind: 'blind' | 'attended';
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
  readonly clock: Clock;
  /** In the order in which they are tried. */
  readonly ways: readonly [CallWay, ...CallWay[]];
  /** Whether 301 and 302 may lead the call to this address or name. */
  mayCall(host: string): boolean;
  /** A trunk did not take the call, and the next one is tried. */
  onFailover?(way: CallWay): void;
  onDialog(dialog: CallDialog): void;
  /** Until the answer UPDATEs may come, of the dialogs with this Call-ID and our tag; null = no longer. */
  onEarly(id: string, early: EarlyDialog | null): void;
  /** Everything of the call is released. Once. */
  onGone(): void;
}

export class OutgoingCall implements LegOwner {
  readonly #options: OutgoingOptions;
  /** Trunks that were not tried yet. */
  readonly #others: CallWay[];
  #leg: SipLeg | null = null;
  #legs: LegSwitch | null = null;
  #invitation: Invitation | null = null;
  #dialog: CallDialog | null = null;
  #timer: Timer | null = null;
  /** What was answered last. */
  #answer: SipAnswer | null = null;

  constructor(options: OutgoingOptions) {
    this.#options = options;
    this.#others = options.ways.slice(1);
  }

  /**
   * Sends the INVITE. From then on the registry has the call.
   * @throws TrunklineError `too_many_calls`, `draining`
   */
  async dial(): Promise<void> {
    const { registry, openMedia, request, transfer, timers, ways } = this.#options;
    const session = await openMedia();
    const { callId, from, to, parameters } = request;
    const outgoing = { callId, from, to, parameters };
    const connect = (handlers: LegHandlers): SipLeg => {
      const media: Pick<MediaSession, 'send' | 'press'> = {
        send: (bytes) => this.#invitation?.media.session.send(bytes),
        press: (digit) => this.#invitation?.media.session.press(digit) ?? false,
      };
      this.#leg = new SipLeg({ owner: this, media, handlers });
      return this.#leg;
    };
    const open = (handlers: LegHandlers): LegSwitch => {
      this.#legs = LegSwitch.open(handlers, timers.clock, connect);
      return this.#legs;
    };
    try {
      if (transfer === null) registry.admit();
      else this.#follow(transfer, connect);
    } catch (error) {
      void session.close();
      this.#leave();
      throw error;
    }
    if (transfer === null)
      registry.accept({ carrier: 'sip', tokenRequired: false, trusted: true, outgoing, connect: open });
    this.#begin(ways[0], session);
  }

  #begin(way: CallWay, session: MediaSession): void {
    try {
      this.#waitForAnswer();
      this.#try(way, session, this.#options.request.callId);
    } catch (error) {
      this.#leg?.fail(new TrunklineError('internal', 'the call could not be dialled'));
      throw error;
    }
  }

  #follow({ legs, kind }: OutgoingTransfer, connect: (handlers: LegHandlers) => SipLeg): void {
    legs.follow({ by: 'refer', kind }, connect);
    this.#legs = legs;
  }

  /** Of the call that it belongs to. */
  get #callId(): string {
    return this.#options.transfer?.callId ?? this.#options.request.callId;
  }

  release(): void {
    this.#options.transfer?.onStatus(487);
    this.#timer?.cancel();
    if (this.#dialog === null) this.#invitation?.cancel();
    else this.#dialog.hangUp();
    this.#leave();
  }

  async transfer(request: TransferRequest): Promise<TransferOutcome> {
    return (await this.#dialog?.transfer(request)) ?? 'unsupported';
  }

  #waitForAnswer(): void {
    const { clock, request, transfer } = this.#options;
    this.#timer = clock.after(
      request.timeoutMs ?? RING_TIMEOUT_MS,
      () => {
        transfer?.onStatus(408);
        this.#leg?.end({ reason: 'unanswered', code: null, error: null, ...this.#lastAnswer });
      },
      true,
    );
  }

  /** Asks one trunk; `session` is its own from now on. */
  #try(way: CallWay, session: MediaSession, sipCallId: string): void {
    const { codecs, mediaAddress, timers, transfer, clock, log, mayCall, onEarly } = this.#options;
    const leg = this.#leg;
    if (leg === null || leg.ended) {
      void session.close();
      return;
    }
    const invitation = new Invitation({
      way,
      sipCallId,
      media: { session, address: mediaAddress, codecs, codec: transfer?.legs.codec ?? null },
      leg,
      clock,
      wantedS: timers.wantedS,
      headers: transfer?.headers ?? [],
      patienceMs: this.#others.length === 0 ? null : PATIENCE_MS,
      log: log.child({ callId: this.#callId }),
      mayCall,
      onEarly,
      onProgress: (answer) => this.#progress(answer),
      onAccepted: (accepted) => this.#accepted(invitation, accepted),
      onFailed: (failure) => this.#failed(failure),
    });
    this.#invitation = invitation;
    invitation.send();
  }

  #progress(answer: SipAnswer): void {
    this.#answer = answer;
    if (answer.status > 100) this.#options.transfer?.onStatus(answer.status);
  }

  get #lastAnswer(): { readonly sip?: SipAnswer } {
    return this.#answer === null ? {} : { sip: this.#answer };
  }

  #failed(failure: InvitationFailure): void {
    const { answer } = failure;
    this.#answer = answer;
    const next = isForOthers(failure) ? this.#others.shift() : undefined;
    if (next !== undefined && this.#leg?.ended === false) {
      void this.#goOn(next, answer);
      return;
    }
    this.#options.transfer?.onStatus(answer.status);
    this.#leg?.end({ reason: failureOf(answer.status), code: null, error: null, sip: answer });
  }

  /** Asks the next trunk. Never rejects. */
  async #goOn(next: CallWay, { status }: SipAnswer): Promise<void> {
    const { openMedia, log, onFailover } = this.#options;
    const before = this.#invitation;
    this.#invitation = null;
    before?.close();
    if (before !== null) onFailover?.(before.way);
    const facts = { callId: this.#callId, trunk: before?.way.name, status, next: next.name };
    log.warn(facts, 'a SIP trunk did not take a call: the next one is tried');
    try {
      // Servers behind both trunks would take the same Call-ID for the same call.
      this.#try(next, await openMedia(), randomUUID());
    } catch (error) {
      this.#leg?.fail(asTrunklineError(error, 'the next trunk could not be tried'));
    }
  }

  #accepted(invitation: Invitation, { session, answer, target }: Accepted): void {
    const leg = this.#leg;
    this.#timer?.cancel();
    if (leg === null || leg.ended) {
      session.bye();
      return;
    }
    const { way, media } = invitation;
    const { stack, scheme } = way;
    const { onDialog, timers, log, transfers } = this.#options;
    this.#dialog = new CallDialog({
      session,
      media,
      listener: leg,
      contactHeader: `Contact: <${stack.contactAs(scheme).toString()}>`,
      timers,
      confirmed: true,
      offering: false,
      credentials: target.isTrunk ? () => way.credentials() : null,
      stack,
      peer: stack.envelopeOf(answer).source,
      transfers,
      legs: () => (this.#legs?.isLive(leg) === true ? this.#legs : null),
      callId: this.#callId,
      log: log.child({ callId: this.#callId }),
      onAcknowledged: () => leg,
    });
    invitation.endUpdates();
    onDialog(this.#dialog);
    this.#dialog.timer.accepted(answer);
    this.#beginSound(invitation, leg, { session, answer, target });
  }

  #beginSound({ way, media, early, earlyTag, updatedTag }: Invitation, leg: SipLeg, accepted: Accepted): void {
    const { session, answer } = accepted;
    const { transfer } = this.#options;
    try {
      // Whoever answers has got our INVITE where we sent it.
      // A call that goes on has no use for what was said before.
      if (earlyTag !== session.remoteTag || transfer !== null) early.forget();
      media.start(early);
      if (updatedTag !== session.remoteTag)
        media.accept(sdpIn(answer) ?? session.answer?.content ?? '', way.stack.envelopeOf(answer).source.address);
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

  #leave(): void {
    this.#invitation?.close();
    this.#options.onGone();
  }
}

/**
 * Whether another trunk may have more luck (RFC 3261 §21.4.9, §21.5): this one failed, not the telephone behind it.
 */
function isForOthers({ answer: { status }, hasRung }: InvitationFailure): boolean {
  return (status === 408 && !hasRung) || (status >= 500 && status < 600);
}
