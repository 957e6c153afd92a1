/** All calls of the server: those that come in or are dialled, those that are live, and those that ended lately. */

import { TrunklineError } from '../foundation/errors.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import type { CallStart, Track } from '../protocols/dialect.ts';
import { admitCall } from './admission/admission.ts';
import { CallTokens } from './admission/tokens.ts';
import { Call, type CallOptions } from './call.ts';
import type { CallContext } from './context.ts';
import { EndedCalls } from './ended-calls.ts';
import type { EndReason } from './feed/events.ts';
import type { TranscriptItem } from './feed/transcript.ts';
import { LagTally } from './inbound/lag.ts';
import type { CallLeg, LegHandlers } from './leg.ts';
import type { CallVoice } from './outbound/voice.ts';
import { type OutgoingCall, OutgoingCalls, type RingingCall } from './outgoing-calls.ts';
import { PendingCall } from './pending-call.ts';

/** A call as the API shows it. Times are ISO 8601. */
export interface CallView {
  readonly id: string;
  readonly carrier: string;
  /** Caller and callee; null = not told. */
  readonly from: string | null;
  readonly to: string | null;
  /** `dialing`: we make the call, and it has not been answered yet. */
  readonly state: 'dialing' | 'live' | 'ended';
  /** When it began; of a call that we make and that is not answered, when it was dialled. */
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Why it ended; null before. */
  readonly endReason: EndReason | null;
  readonly tracks: readonly Track[];
  /** `lagMs` of its last caption; null before the first. */
  readonly lagMs: number | null;
  /** How long it has lasted by its sound. */
  readonly durationMs: number;
  /** What the app gave to whoever takes over the call; null = nothing. */
  readonly handoffData: string | null;
}

/** A carrier's socket whose leg can be opened. */
interface LegOffer {
  readonly carrier: string;
  readonly tokenRequired: boolean;
  /** Whether the peer that opened the socket has shown a secret of ours. */
  readonly trusted?: boolean;
  /** We make the call, and it is not answered yet; left out = the other side made it. */
  readonly outgoing?: OutgoingCall | undefined;
  /** Opens the leg on the socket. */
  connect(handlers: LegHandlers): CallLeg;
}

/**
 * A call's id is the carrier's name for the call (Twilio's `CA…`). A carrier may open several streams for one call:
 * when that id is taken, by a live call or by an ended one that is still readable, the next stream is the call
 * `<callId>:<streamId>`.
 */
export class CallRegistry {
  readonly tokens: CallTokens;
  readonly #context: CallContext;
  /** Sockets that have not begun a stream. */
  readonly #pendingCalls = new Set<PendingCall>();
  readonly #outgoing = new OutgoingCalls();
  readonly #live = new Map<string, Call>();
  readonly #endedCalls: EndedCalls<CallView>;
  readonly #lags: LagTally;
  #drained: Promise<void> | null = null;

  constructor(context: CallContext) {
    this.#context = context;
    this.tokens = new CallTokens({ clock: context.clock });
    this.#endedCalls = new EndedCalls({ callsMax: context.settings.CALLS_KEPT });
    this.#lags = new LagTally(context.clock, context.metrics);
    context.metrics.callsMax.set(context.settings.MAX_CALLS);
  }

  /**
   * Calls that take up a place: live ones, those still captioning their last words, and sockets that have not begun a
   * stream yet.
   */
  get liveCount(): number {
    return this.#live.size + this.#pendingCalls.size;
  }

  /**
   * Whether a socket may come in; to be called before its upgrade. `arriving` = how many were admitted before and are
   * not here yet.
   * @throws TrunklineError `too_many_calls` or `draining`
   */
  admit(arriving = 0): void {
    const { engine, settings } = this.#context;
    admitCall({
      liveCount: this.liveCount + arriving,
      maxCalls: settings.MAX_CALLS,
      firmLoad: engine.firmLoad,
      draining: this.#drained !== null,
    });
  }

  /**
   * Accepts one carrier's socket. Many may have been admitted to their upgrade at once, so the limits are checked
   * again.
   */
  accept(offer: LegOffer): void {
    const refusal = this.#refusal();
    const pendingCall = new PendingCall({
      ...offer,
      tokens: this.tokens,
      context: this.#context,
      open: (opened, opener) => this.#open(opened, opener),
      onGone: (gone, reason) => this.#forget(gone, reason),
    });
    if (refusal !== null) pendingCall.fail(refusal);
    if (pendingCall.over) return;
    this.#pendingCalls.add(pendingCall);
    const { carrier, outgoing } = offer;
    if (outgoing !== undefined)
      this.#outgoing.add(pendingCall, { ...outgoing, carrier, since: this.#context.clock.wall() });
    this.#context.engine.wake();
  }

  /** Calls that we make and that are not answered yet, live calls, then ended ones; of each the latest first. */
  list(): CallView[] {
    const ringing = this.#outgoing.list().map((call) => viewOfRinging(call));
    const live = [...this.#live.values()].map((call) => viewOf(call));
    return [...ringing.toReversed(), ...live.toReversed(), ...this.#endedCalls.views()];
  }

  get(id: string): CallView | undefined {
    const call = this.#live.get(id);
    if (call !== undefined) return viewOf(call);
    const ringing = this.#outgoing.get(id);
    return ringing === undefined ? this.#endedCalls.get(id)?.view : viewOfRinging(ringing);
  }

  /** The call's final captions and gaps so far, as they came; undefined = no such call. */
  transcript(id: string): readonly TranscriptItem[] | undefined {
    return this.#live.get(id)?.transcript ?? this.#endedCalls.get(id)?.transcript;
  }

  /** What is said in a live call; undefined = no live call of that id. */
  voice(id: string): CallVoice | undefined {
    return this.#live.get(id)?.voice;
  }

  /**
   * Ends a live call when everything that waits to be said has been said, after 30 s at the latest; asked again, at
   * once. Twilio then goes on with the TwiML after `<Connect>`. One that we make and that is not answered yet is given
   * up. False when there is no such call of that id.
   */
  hangup(id: string): boolean {
    const call = this.#live.get(id);
    if (call === undefined) return this.#outgoing.giveUp(id);
    call.hangUp();
    return true;
  }

  /**
   * No new calls from now on. Resolves when all calls have ended, their last finals out: by themselves, or after
   * `timeoutMs` by us (`drained`). Asked again, it returns the same promise.
   */
  drain(timeoutMs: number): Promise<void> {
    this.#drained ??= this.#drain(timeoutMs);
    return this.#drained;
  }

  async #drain(timeoutMs: number): Promise<void> {
    const refusal = new TrunklineError('draining', 'the server is shutting down and takes no new calls');
    for (const pendingCall of [...this.#pendingCalls]) pendingCall.fail(refusal);
    const calls = [...this.#live.values()];
    if (calls.length > 0)
      await settlesWithin(this.#context.clock, Promise.all(calls.map((call) => call.ended)), timeoutMs);
    await Promise.all(calls.map((call) => call.end('drained')));
    // Apps are told of the end of their sessions.
    await this.#context.apps.twiml.settled();
  }

  #refusal(): TrunklineError | null {
    try {
      this.admit();
      return null;
    } catch (error) {
      if (error instanceof TrunklineError) return error;
      throw error;
    }
  }

  #open(opened: Pick<CallOptions, 'start' | 'leg' | 'monitor'>, pendingCall: PendingCall): Call {
    const { start } = opened;
    const id = this.#claimId(start);
    const call = new Call({
      ...opened,
      id,
      context: this.#context,
      lags: this.#lags,
      onEnded: (ended, reason) => this.#keepEnded(ended, reason),
    });
    this.#pendingCalls.delete(pendingCall);
    this.#outgoing.remove(pendingCall);
    this.#live.set(id, call);
    this.#context.metrics.calls.inc({ carrier: start.carrier });
    return call;
  }

  #claimId(start: CallStart): string {
    const { callId } = start;
    if (!this.#live.has(callId) && this.#endedCalls.get(callId) === undefined) return callId;
    const id = `${callId}:${start.streamId}`;
    if (this.#live.has(id))
      throw new TrunklineError(
        'start_repeated',
        `stream ${start.streamId} of call ${callId} is live already, expected a new one`,
      );
    return id;
  }

  #keepEnded(call: Call, reason: EndReason): void {
    const { metrics } = this.#context;
    const { carrier } = call.start;
    this.#live.delete(call.id);
    this.#endedCalls.add(call.id, { view: this.#ended(viewOf(call), reason), transcript: call.transcript });
    metrics.calls.dec({ carrier });
    metrics.callsEnded.inc({ carrier, reason });
  }

  /** A socket closed that never became a call. If it was to become one of ours, those who wait for it are told. */
  #forget(pendingCall: PendingCall, reason: EndReason): void {
    this.#pendingCalls.delete(pendingCall);
    const ringing = this.#outgoing.remove(pendingCall);
    if (ringing === undefined) return;
    const { metrics, feed, log } = this.#context;
    const { callId, carrier } = ringing;
    this.#endedCalls.add(callId, { view: this.#ended(viewOfRinging(ringing), reason), transcript: [] });
    metrics.callsEnded.inc({ carrier, reason });
    feed.publish({ type: 'call.ended', callId, reason, durationMs: 0 });
    log.info({ callId, carrier, reason }, 'call not answered');
  }

  #ended(view: CallView, endReason: EndReason): CallView {
    return { ...view, state: 'ended', endedAt: this.#context.clock.wall().toISOString(), endReason };
  }
}

function viewOfRinging({ callId, carrier, from, to, since }: RingingCall): CallView {
  return {
    id: callId,
    carrier,
    from,
    to,
    state: 'dialing',
    startedAt: since.toISOString(),
    endedAt: null,
    endReason: null,
    tracks: [],
    lagMs: null,
    durationMs: 0,
    handoffData: null,
  };
}

function viewOf(call: Call): CallView {
  const { carrier, from, to, tracks } = call.start;
  return {
    id: call.id,
    carrier,
    from,
    to,
    state: 'live',
    startedAt: call.startedAt.toISOString(),
    endedAt: null,
    endReason: null,
    tracks,
    lagMs: call.lagMs,
    durationMs: call.durationMs,
    handoffData: call.handoffData,
  };
}
