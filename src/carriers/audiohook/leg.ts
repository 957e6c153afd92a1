/**
 * The leg of a Genesys AudioHook session: its WebSocket with all its faults, the answers that the protocol asks for,
 * and the call's captions, which go back as transcripts. The session ends only when the last final caption is told. A
 * client whose connection broke, or that closes it to reconnect, may go on with the call in another session.
 */
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { CallLeg, LegEnd, LegHandlers } from '../../calls/leg.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { asTrunklineError, TrunklineError } from '../../foundation/errors.ts';
import type { CarrierEvent, TranscribedCaption, WireMessage } from '../../protocols/dialect.ts';
import { CallTranscripts } from '../shared/call-transcripts.ts';
import type { LegLimits } from '../shared/leg-limits.ts';
import type { AudioHookConnection, ConnectionOwner } from './connection.ts';
import type { AudioHookSession, AudioHookStep } from './wire/session.ts';

/** How long it is kept waiting for the last final captions. */
const FINALS_TIMEOUT_MS = 4000;
/** How long a call waits for the session that goes on with it. */
const CONTINUE_TIMEOUT_MS = 10_000;
/** Captions that are kept meanwhile; later ones are in the record alone. */
const UNSENT_MAX = 100;
/** Closed by the client on purpose, without or with a code (RFC 6455 §7.1.5). */
const NORMAL_CLOSURES: readonly number[] = [1000, 1005];
/** No close frame came (RFC 6455 §7.1.5). */
const ABNORMAL_CLOSURE = 1006;

interface LegOptions {
  readonly connection: AudioHookConnection;
  /** Calls `reader` with what is published of this gateway's calls from now on; returns what ends that. */
  readonly follow: (reader: (event: FeedEvent) => void) => () => void;
  readonly limits: LegLimits;
  readonly clock: Clock;
  readonly handlers: LegHandlers;
  /** The legs of the live calls of this gateway, by the ids of all their sessions. */
  readonly live: Map<string, AudioHookLeg>;
}

/** One call, or one connection that becomes none. */
export class AudioHookLeg implements CallLeg, ConnectionOwner {
  readonly #options: LegOptions;
  /** Null = the client is away, and may come back. */
  #connection: AudioHookConnection | null;
  /** The latest one. */
  #session: AudioHookSession;
  /** Null = no call has begun. */
  #transcripts: CallTranscripts | null = null;
  #unsent: TranscribedCaption[] = [];
  /** Why we are closing; null while the leg is open. */
  #end: LegEnd | null = null;
  #isClosedTold = false;
  #isPaused = false;
  #lastMessageMs: number;
  #lastAudioMs: number;
  /** Watches for `open`, then for messages, then for the close or for another session. */
  #timer: Timer;

  constructor(options: LegOptions) {
    this.#options = options;
    const { connection, clock, limits } = options;
    this.#connection = connection;
    this.#session = connection.session;
    this.#lastMessageMs = clock.nowMs();
    this.#lastAudioMs = clock.nowMs();
    this.#timer = clock.after(limits.startTimeoutMs, () => this.#onNoOpen());
    connection.belongTo(this);
  }

  /** Nothing can be said to the caller. */
  send(): void {
    throw new TrunklineError('invalid_request', 'AudioHook takes no sound for its calls: it only listens');
  }

  /** Asks the client to end the session, unless it has done so itself; it is closed when the captions are out. */
  close(): void {
    if (this.#end !== null) return;
    this.#end = { reason: 'closed', code: null, error: null };
    this.#forget();
    if (this.#connection === null) {
      this.#tellClosedSoon();
      return;
    }
    if (!this.#session.isClosing) this.#write(this.#session.disconnect('completed'));
    this.#resume();
    this.#finishWhenTold();
  }

  /** Ends the session because of `error`. */
  fail(error: TrunklineError): void {
    if (this.#end !== null) return;
    const isTimeout = error.code === 'start_timeout' || error.code === 'media_timeout';
    this.#end = { reason: isTimeout ? 'timeout' : 'error', code: error.code, error };
    this.#forget();
    this.#transcripts?.close();
    if (this.#connection === null) {
      this.#tellClosedSoon();
      return;
    }
    const isUnauthorized = error.code === 'credentials_invalid';
    this.#write(this.#session.disconnect(isUnauthorized ? 'unauthorized' : 'error', error.message));
    this.#resume();
    this.#cutSoon();
  }

  /** Stops reading, so that TCP slows the client down. The media time-out waits meanwhile. */
  pause(): void {
    if (this.#end !== null) return;
    this.#isPaused = true;
    this.#connection?.pause();
  }

  resume(): void {
    this.#resume();
  }

  /**
   * Goes on with `connection`, whose client has opened a session that continues one of this call; `replies` = what it
   * is answered. False = it cannot: the call is ending, or the session is of another conversation or has other sound.
   */
  adopt(connection: AudioHookConnection, replies: readonly string[]): boolean {
    if (this.#end !== null || (this.#session.isClosing && !this.#session.isReconnecting)) return false;
    const { clock, limits } = this.#options;
    const missedMs = this.#session.isHeld ? 0 : Math.round(clock.nowMs() - this.#lastAudioMs);
    const changes = connection.session.continueFrom(this.#session, missedMs);
    if (changes === null) return false;
    this.#connection?.leave();
    this.#connection = connection;
    this.#session = connection.session;
    connection.belongTo(this);
    if (this.#isPaused) connection.pause();
    this.#remember();
    this.#lastMessageMs = clock.nowMs();
    this.#lastAudioMs = clock.nowMs();
    this.#watch(limits.mediaTimeoutMs);
    for (const reply of replies) this.#write(reply);
    for (const event of changes) this.#tell(event);
    for (const caption of this.#unsent.splice(0)) this.#transcribe(caption);
    return true;
  }

  /** {@link ConnectionOwner.onMessage} */
  onMessage(message: WireMessage): void {
    this.#lastMessageMs = this.#options.clock.nowMs();
    if (typeof message !== 'string') this.#lastAudioMs = this.#lastMessageMs;
    try {
      const wasOpen = this.#session.isOpen;
      const step = this.#session.receive(message);
      if (!wasOpen && this.#session.isOpen) {
        if (this.#joinFormer(step)) return;
        if (!this.#session.isProbe) this.#watch(this.#options.limits.mediaTimeoutMs);
      }
      this.#take(step);
      if (this.#session.isReconnecting && this.#end === null && this.#transcripts !== null) this.#awaitClient('closed');
      else if (this.#session.isClosing) this.#finishWhenTold();
    } catch (error) {
      this.fail(asTrunklineError(error, 'the session could not go on'));
    }
  }

  /** {@link ConnectionOwner.onSocketError} */
  onSocketError(error: Error): void {
    if (!this.#mayComeBack) this.#end ??= { reason: 'lost', code: null, error };
  }

  /** {@link ConnectionOwner.onSocketClosed} */
  onSocketClosed(code: number): void {
    const reason = code === ABNORMAL_CLOSURE ? 'lost' : 'closed';
    if (this.#mayComeBack && !NORMAL_CLOSURES.includes(code)) {
      this.#awaitClient(reason);
      return;
    }
    this.#end ??= { reason, code: null, error: null };
    this.#tellClosed(this.#end);
  }

  /** A call that nobody has ended. */
  get #mayComeBack(): boolean {
    return this.#end === null && this.#transcripts !== null && !this.#session.isClosing;
  }

  /** The call waits for a session that goes on with it, and ends as one that was lost if none comes. */
  #awaitClient(reason: LegEnd['reason']): void {
    this.#connection?.leave();
    this.#connection = null;
    this.#timer.cancel();
    this.#timer = this.#options.clock.after(CONTINUE_TIMEOUT_MS, () => {
      this.#end = { reason, code: null, error: null };
      this.#tellClosed(this.#end);
    });
  }

  /** Whether an earlier call goes on with this connection. It is none of this leg's any more then. */
  #joinFormer({ replies }: AudioHookStep): boolean {
    const { live, handlers } = this.#options;
    const former = this.#session.continues.flatMap((id) => live.get(id) ?? []).at(-1);
    if (former === undefined || this.#connection === null || !former.adopt(this.#connection, replies)) return false;
    this.#timer.cancel();
    this.#connection = null;
    this.#end = { reason: 'closed', code: null, error: null };
    handlers.onEvent({ type: 'stop' });
    handlers.onClosed(this.#end);
    return true;
  }

  #resume(): void {
    this.#isPaused = false;
    this.#lastMessageMs = this.#options.clock.nowMs();
    this.#connection?.resume();
  }

  /** What it answers is sent even when the call is over: the client may ping until the end. */
  #take({ events, replies }: AudioHookStep): void {
    for (const event of events) this.#tell(event);
    if (this.#end?.code === undefined || this.#end.code === null) for (const reply of replies) this.#write(reply);
  }

  #tell(event: CarrierEvent): void {
    if (this.#end !== null) return;
    if (event.type === 'start') this.#begin(event.start.callId, event.start.streamId);
    this.#options.handlers.onEvent(event);
  }

  #begin(callId: string, streamId: string): void {
    const transcripts = new CallTranscripts({
      ids: [callId, `${callId}:${streamId}`],
      send: (caption) => this.#transcribe(caption),
      onEnded: () => this.#finishWhenTold(),
    });
    this.#transcripts = transcripts;
    transcripts.followWith(this.#options.follow);
    this.#remember();
  }

  #remember(): void {
    const { live } = this.#options;
    const { id } = this.#session;
    if (id !== null && !live.has(id)) live.set(id, this);
  }

  #forget(): void {
    const { live } = this.#options;
    for (const [id, leg] of live) if (leg === this) live.delete(id);
  }

  #transcribe(caption: TranscribedCaption): void {
    if (this.#connection === null) {
      if (this.#unsent.length < UNSENT_MAX) this.#unsent.push(caption);
      return;
    }
    const message = this.#session.transcript(caption);
    if (message !== null) this.#write(message);
  }

  /** Tells the client that the session is closed, when it has asked for that and nothing more comes. */
  #finishWhenTold(): void {
    if (this.#isClosedTold || this.#connection === null) return;
    const isTold = this.#transcripts === null || this.#transcripts.isOver;
    if (this.#session.isClosing && isTold) {
      this.#finish();
      return;
    }
    this.#timer.cancel();
    this.#timer = this.#options.clock.after(FINALS_TIMEOUT_MS, () => this.#finish());
  }

  #finish(): void {
    this.#isClosedTold = true;
    this.#transcripts?.close();
    this.#end ??= { reason: 'closed', code: null, error: null };
    if (this.#session.isClosing) this.#write(this.#session.closed());
    this.#cutSoon();
  }

  #write(message: string): void {
    this.#connection?.write(message);
  }

  /** A probe has seen by then that somebody answers; it takes the place of a call. */
  #onNoOpen(): void {
    const { startTimeoutMs } = this.#options.limits;
    if (this.#session.isProbe) this.close();
    else this.fail(new TrunklineError('start_timeout', `no open within ${startTimeoutMs} ms`));
  }

  /** One timer that looks back, rather than one set anew with each message. */
  #watch(delayMs: number): void {
    this.#timer.cancel();
    const { clock, limits } = this.#options;
    this.#timer = clock.after(delayMs, () => {
      if (this.#connection?.isPaused === true) this.#lastMessageMs = clock.nowMs();
      const leftMs = limits.mediaTimeoutMs - (clock.nowMs() - this.#lastMessageMs);
      if (leftMs > 0) this.#watch(leftMs);
      else this.fail(new TrunklineError('media_timeout', `no message within ${limits.mediaTimeoutMs} ms`));
    });
  }

  #cutSoon(): void {
    this.#timer.cancel();
    this.#connection?.cutSoon();
  }

  /** Whoever ends the call is not told of it while it does so. */
  #tellClosedSoon(): void {
    const end = this.#end;
    this.#timer.cancel();
    if (end !== null) this.#timer = this.#options.clock.after(0, () => this.#tellClosed(end));
  }

  #tellClosed(end: LegEnd): void {
    this.#timer.cancel();
    this.#transcripts?.close();
    this.#forget();
    this.#options.handlers.onClosed(end);
  }
}
