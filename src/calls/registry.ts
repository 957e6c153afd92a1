/** All calls of the server: those that come in or are dialled, those that are live, and those that ended lately. */
import { randomUUID } from 'node:crypto';
import { TrunklineError } from '../foundation/errors.ts';
import type { MaybePromise } from '../foundation/maybe-promise.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import type { CallStart } from '../protocols/dialect.ts';
import { admitCall } from './admission/admission.ts';
import type { CallClaims } from './admission/call-claims.ts';
import { CallRoom } from './admission/call-room.ts';
import { CallTokens } from './admission/tokens.ts';
import { chooseFlow, type FlowContext } from './app/call-flows.ts';
import { appAddressOf } from './app/request.ts';
import { Call, type CallOptions } from './call.ts';
import { type CallParameters, readCallParameters } from './call-parameters.ts';
import { type CallEnding, CallSummary } from './call-summary.ts';
import type { CallView } from './call-view.ts';
import { EndedCalls } from './ended-calls.ts';
import type { FeedEvent } from './feed/events.ts';
import { EndedSpeech } from './inbound/ended-speech.ts';
import { LagTally } from './inbound/lag.ts';
import type { CallLeg, LegHandlers } from './leg.ts';
import type { CallVoice } from './outbound/voice.ts';
import { type OutgoingCall, OutgoingCalls } from './outgoing-calls.ts';
import { type ArrivalEnd, type ClaimedCall, PendingCall, type PendingCallOptions } from './pending-call.ts';
import type { RecordingState } from './sound/call-recording.ts';
import { TakenIds } from './taken-ids.ts';

/** Captions that come later than this keep new calls out: a machine that stood still for a second does not. */
const BEHIND_MS = 2000;

/** A carrier's socket whose leg can be opened. */
interface LegOffer {
  readonly carrier: string;
  readonly tokenRequired: boolean;
  /** Whether the peer that opened the socket has shown a secret of ours. */
  readonly trusted?: boolean;
  /** The flow that whoever opened the socket asks for; a parameter of the call goes before it. */
  readonly flow?: string | undefined;
  /** We make the call, and it is not answered yet; left out = the other side made it. */
  readonly outgoing?: OutgoingCall | undefined;
  /** The start with what was announced of its call; left out = nothing is announced. Must not reject. */
  readonly complete?: PendingCallOptions['complete'];
  /** Opens the leg on the socket. */
  connect(handlers: LegHandlers): CallLeg;
}

/**
 * A call's id is the carrier's name for the call (Twilio's `CA…`). A carrier may open several streams for one call:
 * when that id is taken, by a live call or by an ended one that is still readable, in memory or stored, the next stream
 * is the call `<callId>:<streamId>`.
 */
export class CallRegistry {
  readonly tokens: CallTokens;
  readonly #context: FlowContext;
  /** Sockets that have not begun a stream. */
  readonly #pendingCalls = new Set<PendingCall>();
  readonly #outgoing = new OutgoingCalls();
  readonly #live = new Map<string, Call>();
  /** Those of them that are over but for their last captions. */
  readonly #ending = new Set<Call>();
  readonly #endedSpeech = new EndedSpeech();
  /** Ids that are being claimed, or whose call is about to begin. */
  readonly #claiming = new Set<string>();
  readonly #endedCalls: EndedCalls<CallSummary>;
  readonly #lags: LagTally;
  /** Null = nothing is stored. */
  readonly #taken: TakenIds | null;
  readonly #room: CallRoom;
  #drained: Promise<void> | null = null;

  constructor(context: FlowContext) {
    this.#context = context;
    const { clock, oneUse = null, settings } = context;
    this.tokens = new CallTokens({ clock, store: oneUse, clusterKey: settings.CLUSTER_KEY });
    this.#endedCalls = new EndedCalls({ callsMax: context.settings.CALLS_KEPT });
    this.#lags = new LagTally(context.clock, context.metrics);
    this.#taken = context.archive ? new TakenIds(context.archive, context.log) : null;
    this.#room = new CallRoom({ ...context, threadUse: context.threadUse ?? (() => 0) });
    context.metrics.callsMax.watch(() => this.callsMax);
    // The first reader, so that all others find calls as the events say that they are.
    context.feed.subscribeOwn({}, ({ event }) => this.#note(event));
    // Notes on our calls, and their deletion.
    context.feed.subscribeForeign((event) => this.#note(event));
  }

  /** Calls that take up a place: those in which somebody may talk, and sockets that have not begun a stream yet. */
  get liveCount(): number {
    return this.#talkingCount + this.#pendingCalls.size;
  }

  /** Calls that are over but for their last captions, which are still being read. */
  get endingCount(): number {
    return this.#ending.size;
  }

  get #talkingCount(): number {
    return this.#live.size - this.#ending.size;
  }

  /** Calls whose captions come so late now that it is no passing stall of the machine. */
  get #lateCount(): number {
    if (this.#context.engine.isLoading) return 0;
    let count = 0;
    for (const call of this.#live.values()) if (!this.#ending.has(call) && call.lagMs > BEHIND_MS) count++;
    return count;
  }

  /** Most calls at once now: MAX_CALLS, or as measured. */
  get callsMax(): number {
    return this.#room.max;
  }

  /**
   * Whether a socket may come in; to be called before its upgrade. `arriving` = how many were admitted before and are
   * not here yet. The engines are started meanwhile, where they are not.
   * @throws TrunklineError `too_many_calls` or `draining`
   */
  admit(arriving = 0): void {
    const { engine, feed } = this.#context;
    admitCall({
      liveCount: this.liveCount + arriving,
      maxCalls: this.callsMax,
      firmLoad: engine.firmLoad,
      lateCount: this.#lateCount,
      draining: this.#drained !== null,
      feedIsFull: feed.isFull,
    });
    engine.wake();
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
      claim: (start, claimer) => this.#claim(start, claimer),
      open: (opened, opener) => this.#open(opened, opener),
      release: ({ id }) => this.#release(id),
      onGone: (gone, end) => this.#forget(gone, offer.carrier, end),
    });
    if (refusal !== null) pendingCall.fail(refusal);
    if (pendingCall.over) return;
    this.#pendingCalls.add(pendingCall);
    if (offer.outgoing !== undefined) this.#ring(pendingCall, offer.carrier, offer.outgoing);
  }

  /** Calls that we make and that are not answered yet, live calls, then ended ones; of each the latest first. */
  list(): CallView[] {
    const ringing = this.#outgoing.list().map((summary) => summary.view(0));
    const live = [...this.#live.values()].map((call) => viewOf(call));
    return [...ringing.toReversed(), ...live.toReversed(), ...this.#endedCalls.list().map((call) => call.view(0))];
  }

  get(id: string): CallView | undefined {
    const call = this.#live.get(id);
    return call === undefined ? this.summary(id)?.view(0) : viewOf(call);
  }

  /** What a call's parameters say, the ones for us and all of them; undefined = no such call in memory. */
  parameters(id: string): { readonly own: CallParameters; readonly all: CallStart['parameters'] } | undefined {
    const beginning = this.summary(id)?.beginning;
    return beginning && { own: beginning.parameters, all: beginning.given };
  }

  /** What is known of a call, live or ended; undefined = no such call in memory. */
  summary(id: string): CallSummary | undefined {
    return this.#live.get(id)?.summary ?? this.#outgoing.get(id) ?? this.#endedCalls.get(id);
  }

  /**
   * Takes a live call over from its app, or gives it back. False = no live call of that id.
   * @throws TrunklineError `invalid_request` when it has no app
   */
  muteApp(id: string, isMuted: boolean, by: string): boolean {
    const call = this.#live.get(id);
    call?.muteApp(isMuted, by);
    return call !== undefined;
  }

  /**
   * From now on `language` is spoken in a live call, on all its tracks; `auto` = the recogniser finds out. False = no
   * live call of that id.
   * @throws TrunklineError `unsupported_language`
   */
  setLanguage(id: string, language: string): boolean {
    const call = this.#live.get(id);
    call?.languages.name({ language, by: 'api' }, 'language');
    return call !== undefined;
  }

  /** What is said in a live call; undefined = no live call of that id. */
  voice(id: string): CallVoice | undefined {
    return this.#live.get(id)?.voice;
  }

  /**
   * Records the sound of a live call from now on, pauses that, or ends it. False = nothing keeps sound here;
   * undefined = no live call of that id.
   */
  setRecording(id: string, state: RecordingState): boolean | undefined {
    const call = this.#live.get(id);
    call?.recording?.set(state);
    return call && call.recording !== null;
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

  /** Lets go of an ended call: who reads it gets what is stored. */
  release(id: string): void {
    this.#endedCalls.remove(id);
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

  #open(opened: Pick<CallOptions, 'start' | 'leg' | 'monitor'> & ClaimedCall, pendingCall: PendingCall): Call {
    const { start, id } = opened;
    const call = new Call({
      ...opened,
      context: this.#context,
      lags: this.#lags,
      endedSpeech: this.#endedSpeech,
      dialledAt: this.#outgoing.of(pendingCall)?.beginning.startedAt ?? null,
      onEnding: (ended) => this.#freePlace(ended),
      onEnded: (ended, ending) => this.#keepEnded(ended, ending),
    });
    this.#pendingCalls.delete(pendingCall);
    this.#outgoing.remove(pendingCall);
    this.#claiming.delete(id);
    this.#live.set(id, call);
    this.#room.note(this.#talkingCount);
    this.#taken?.add(id);
    this.#context.metrics.calls.inc({ carrier: start.carrier });
    return call;
  }

  #claim(start: CallStart, claimer: PendingCall): MaybePromise<ClaimedCall> {
    const { claims } = this.#context;
    const id = this.#freeId(start);
    const claimed = { id, summary: this.#summarise(id, start) };
    // Of a call that we make the id is ours alone.
    if (!claims || this.#outgoing.of(claimer) !== undefined) return claimed;
    return this.#claimShared(claims, start, claimed);
  }

  /** Other gateways, and other streams here, may have taken the id meanwhile. */
  async #claimShared(claims: CallClaims, start: CallStart, first: ClaimedCall): Promise<ClaimedCall> {
    for (let claimed = first; ; ) {
      const { id, summary } = claimed;
      if (!this.#claiming.has(id) && !this.#isTaken(id)) {
        this.#claiming.add(id);
        if ((await claims.claim(summary)) !== 'taken') return claimed;
        this.#claiming.delete(id);
      }
      const nextId = this.#nextId(start, id);
      claimed = { id: nextId, summary: this.#summarise(nextId, start) };
    }
  }

  #release(id: string): void {
    this.#claiming.delete(id);
    this.#context.claims?.release(id);
  }

  /** What a call is called when `id` is another's. */
  #nextId({ callId, streamId }: CallStart, id: string): string {
    return id === callId ? `${callId}:${streamId}` : `${callId}:${streamId}:${randomUUID()}`;
  }

  #freeId({ callId, streamId }: CallStart): string {
    if (!this.#isTaken(callId)) return callId;
    const id = `${callId}:${streamId}`;
    if (this.#live.has(id))
      throw new TrunklineError(
        'start_repeated',
        `stream ${streamId} of call ${callId} is live already, expected a new one`,
      );
    // A carrier that names both anew each time the same way.
    return this.#isTaken(id) && this.#taken !== null ? `${id}:${randomUUID()}` : id;
  }

  #isTaken(id: string): boolean {
    return this.#live.has(id) || this.#endedCalls.get(id) !== undefined || this.#taken?.has(id) === true;
  }

  #summarise(id: string, start: CallStart): CallSummary {
    const { settings, clock, flows } = this.#context;
    const { carrier, from, to, tracks } = start;
    return new CallSummary({
      id,
      carrier,
      from,
      to,
      tracks,
      app: appAddressOf(start, settings, chooseFlow(start, flows)?.flow?.name ?? null),
      startedAt: clock.wall(),
      state: 'live',
      parameters: readCallParameters(start),
      given: start.parameters,
    });
  }

  #ring(pendingCall: PendingCall, carrier: string, { callId, from, to, parameters = {} }: OutgoingCall): void {
    const { clock, feed } = this.#context;
    const summary = new CallSummary({
      id: callId,
      carrier,
      from,
      to,
      tracks: [],
      app: null,
      startedAt: clock.wall(),
      state: 'dialing',
      parameters: readCallParameters({ parameters }),
      given: parameters,
    });
    this.#outgoing.add(pendingCall, summary);
    const { names, agent, queue, startedAt } = summary.view(0);
    const parties = { carrier, from, to, names, agent, queue, startedAt };
    feed.publish({ type: 'call.state', callId, state: 'ringing', atMs: 0, ...parties });
  }

  #note(event: FeedEvent): void {
    this.summary(event.callId)?.apply(event);
    if (event.type !== 'call.deleted') return;
    this.#endedCalls.remove(event.callId);
    this.#taken?.remove(event.callId);
  }

  #freePlace(call: Call): void {
    this.#ending.add(call);
    this.#room.note(this.#talkingCount);
    this.#context.metrics.calls.dec({ carrier: call.start.carrier });
  }

  #keepEnded(call: Call, ending: CallEnding): void {
    const { metrics } = this.#context;
    const { carrier } = call.start;
    call.summary.end(ending);
    this.#live.delete(call.id);
    this.#ending.delete(call);
    this.#endedCalls.add(call.id, call.summary);
    metrics.callsEnded.inc({ carrier, reason: ending.reason });
  }

  /** A socket closed that never became a call. If it was to become one of ours, those who wait for it are told. */
  #forget(pendingCall: PendingCall, carrier: string, { reason, error, sip }: ArrivalEnd): void {
    this.#pendingCalls.delete(pendingCall);
    const summary = this.#outgoing.remove(pendingCall);
    const { metrics, feed, log, clock, tracer } = this.#context;
    const callId = summary?.beginning.id ?? null;
    if (callId !== null || error !== null)
      tracer?.onFailed({ carrier, callId, sinceMs: pendingCall.sinceMs, error, reason });
    if (summary === undefined || callId === null) return;
    summary.end({ at: clock.wall(), reason, durationMs: 0, handoffData: null, sip });
    this.#endedCalls.add(callId, summary);
    metrics.callsEnded.inc({ carrier, reason });
    const answered = sip === null ? {} : { sip };
    feed.publish({ type: 'call.ended', callId, reason, durationMs: 0, handoffData: null, ...answered });
    // What the peer calls it may have the number in it.
    log.info({ callId, carrier, reason, sipStatus: sip?.status }, 'call not answered');
  }
}

function viewOf(call: Call): CallView {
  return call.summary.view(call.durationMs);
}
