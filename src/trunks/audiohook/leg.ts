/**
 * The leg of a Genesys AudioHook session: its WebSocket with all its faults, the answers that the protocol asks for,
 * and the call's captions, which go back as transcripts. The session ends only when the last final caption is told.
 */
import type { WebSocket } from 'ws';
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { CallLeg, LegEnd, LegHandlers } from '../../calls/leg.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { asTrunklineError, TrunklineError } from '../../foundation/errors.ts';
import type { AudioHookSession, AudioHookStep } from '../../protocols/audiohook/session.ts';
import type { CarrierEvent } from '../../protocols/dialect.ts';
import type { LegLimits } from '../leg-limits.ts';
import { AudioHookTranscripts } from './transcripts.ts';

/** How long the client may take to say that it closes, and then to close. It waits for our `closed` for 5 s itself. */
const CLOSE_TIMEOUT_MS = 2000;
/** How long it is kept waiting for the last final captions. */
const FINALS_TIMEOUT_MS = 4000;
const NORMAL_CLOSURE = 1000;
/** No close frame came (RFC 6455 §7.1.5). */
const ABNORMAL_CLOSURE = 1006;

interface LegOptions {
  readonly socket: WebSocket;
  readonly session: AudioHookSession;
  /** Calls `reader` with what is published of this gateway's calls from now on; returns what ends that. */
  readonly follow: (reader: (event: FeedEvent) => void) => () => void;
  readonly limits: LegLimits;
  readonly clock: Clock;
  readonly handlers: LegHandlers;
}

/** One AudioHook connection. The HTTP server limits its messages. */
export class AudioHookLeg implements CallLeg {
  readonly #options: LegOptions;
  /** Null = no call has begun. */
  #transcripts: AudioHookTranscripts | null = null;
  /** Why we are closing; null while the leg is open. */
  #end: LegEnd | null = null;
  #isClosedTold = false;
  #lastMessageMs: number;
  /** Watches for `open`, then for messages, then for the close. */
  #timer: Timer;

  constructor(options: LegOptions) {
    this.#options = options;
    const { socket, clock, limits } = options;
    this.#lastMessageMs = clock.nowMs();
    this.#timer = clock.after(limits.startTimeoutMs, () => this.#onNoOpen());
    // Our sockets keep the default binaryType of ws, so each message is one Buffer.
    socket.on('message', (data, isBinary) => this.#onMessage(data as Buffer, isBinary));
    socket.on('error', (error) => this.#onSocketError(error));
    socket.on('close', (code) => this.#onSocketClosed(code));
  }

  /** Nothing can be said to the caller. */
  send(): void {
    throw new TrunklineError('invalid_request', 'AudioHook takes no sound for its calls: it only listens');
  }

  /** Asks the client to end the session, unless it has done so itself; it is closed when the captions are out. */
  close(): void {
    if (this.#end !== null) return;
    this.#end = { reason: 'closed', code: null, error: null };
    if (!this.#options.session.isClosing) this.#write(this.#options.session.disconnect('completed'));
    this.#resume();
    this.#finishWhenTold();
  }

  /** Ends the session because of `error`. */
  fail(error: TrunklineError): void {
    if (this.#end !== null) return;
    const isTimeout = error.code === 'start_timeout' || error.code === 'media_timeout';
    this.#end = { reason: isTimeout ? 'timeout' : 'error', code: error.code, error };
    const isUnauthorized = error.code === 'credentials_invalid';
    this.#write(this.#options.session.disconnect(isUnauthorized ? 'unauthorized' : 'error', error.message));
    this.#transcripts?.close();
    this.#resume();
    this.#cutAfterTimeout();
  }

  /** Stops reading, so that TCP slows the client down. The media time-out waits meanwhile. */
  pause(): void {
    if (this.#end === null) this.#options.socket.pause();
  }

  resume(): void {
    this.#resume();
  }

  #resume(): void {
    this.#lastMessageMs = this.#options.clock.nowMs();
    this.#options.socket.resume();
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    this.#lastMessageMs = this.#options.clock.nowMs();
    const { session } = this.#options;
    try {
      const wasOpen = session.isOpen;
      const step = session.receive(isBinary ? data : data.toString());
      if (!wasOpen && session.isOpen && !session.isProbe) this.#watch(this.#options.limits.mediaTimeoutMs);
      this.#take(step);
      if (session.isClosing) this.#finishWhenTold();
    } catch (error) {
      this.fail(asTrunklineError(error, 'the session could not go on'));
    }
  }

  /** What it answers is sent even when the call is over: the client may ping until the end. */
  #take({ events, replies }: AudioHookStep): void {
    for (const event of events) this.#tell(event);
    if (this.#end?.code === undefined || this.#end.code === null) for (const reply of replies) this.#write(reply);
  }

  #tell(event: CarrierEvent): void {
    if (this.#end !== null) return;
    if (event.type === 'start') this.#follow(event.start.callId, event.start.streamId);
    this.#options.handlers.onEvent(event);
  }

  #follow(callId: string, streamId: string): void {
    const { session, follow } = this.#options;
    const transcripts = new AudioHookTranscripts({
      ids: [callId, `${callId}:${streamId}`],
      send: (caption) => {
        const message = session.transcript(caption);
        if (message !== null) this.#write(message);
      },
      onEnded: () => this.#finishWhenTold(),
    });
    this.#transcripts = transcripts;
    transcripts.followWith(follow);
  }

  /** Tells the client that the session is closed, when it has asked for that and nothing more comes. */
  #finishWhenTold(): void {
    if (this.#isClosedTold) return;
    const { session, clock } = this.#options;
    const isTold = this.#transcripts === null || this.#transcripts.isOver;
    if (session.isClosing && isTold) {
      this.#finish();
      return;
    }
    this.#timer.cancel();
    this.#timer = clock.after(FINALS_TIMEOUT_MS, () => this.#finish());
  }

  #finish(): void {
    this.#isClosedTold = true;
    this.#transcripts?.close();
    this.#end ??= { reason: 'closed', code: null, error: null };
    if (this.#options.session.isClosing) this.#write(this.#options.session.closed());
    this.#cutAfterTimeout();
  }

  #write(message: string): void {
    const { socket, limits } = this.#options;
    if (socket.readyState !== socket.OPEN) return;
    socket.send(message, () => {});
    if (socket.bufferedAmount > limits.sendBufferMaxBytes) socket.terminate();
  }

  /** A probe has seen by then that somebody answers; it takes the place of a call. */
  #onNoOpen(): void {
    const { session, limits } = this.#options;
    const { startTimeoutMs } = limits;
    if (session.isProbe) this.close();
    else this.fail(new TrunklineError('start_timeout', `no open within ${startTimeoutMs} ms`));
  }

  /** One timer that looks back, rather than one set anew with each message. */
  #watch(delayMs: number): void {
    this.#timer.cancel();
    const { socket, clock, limits } = this.#options;
    this.#timer = clock.after(delayMs, () => {
      if (socket.isPaused) this.#lastMessageMs = clock.nowMs();
      const leftMs = limits.mediaTimeoutMs - (clock.nowMs() - this.#lastMessageMs);
      if (leftMs > 0) this.#watch(leftMs);
      else this.fail(new TrunklineError('media_timeout', `no message within ${limits.mediaTimeoutMs} ms`));
    });
  }

  #cutAfterTimeout(): void {
    this.#timer.cancel();
    const { socket, clock } = this.#options;
    this.#timer = clock.after(CLOSE_TIMEOUT_MS, () => {
      socket.close(NORMAL_CLOSURE);
      this.#timer = clock.after(CLOSE_TIMEOUT_MS, () => socket.terminate());
    });
  }

  #onSocketError(error: Error): void {
    this.#end ??= { reason: 'lost', code: null, error };
  }

  #onSocketClosed(code: number): void {
    this.#timer.cancel();
    this.#transcripts?.close();
    this.#end ??= { reason: code === ABNORMAL_CLOSURE ? 'lost' : 'closed', code: null, error: null };
    this.#options.handlers.onClosed(this.#end);
  }
}
