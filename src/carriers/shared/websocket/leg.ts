/**
 * A carrier's WebSocket. Passes messages between the socket and a {@link Dialect}, and handles all failures of a
 * socket: silence, and a peer that does not read, does not close, or disappears. The only file here that touches
 * sockets.
 */
import type { WebSocket } from 'ws';
import type { FeedEvent } from '../../../calls/feed/events.ts';
import type { CallLeg, LegEnd, LegHandlers, TransferOutcome, TransferRequest } from '../../../calls/leg.ts';
import type { TransferCall } from '../../../calls/socket-admission.ts';
import type { Clock, Timer } from '../../../foundation/clock.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import { nextTurn } from '../../../foundation/next-turn.ts';
import type {
  CallStart,
  CarrierCommand,
  CarrierEvent,
  CarrierSignal,
  Dialect,
  WireMessage,
} from '../../../protocols/dialect.ts';
import { CallTranscripts } from '../call-transcripts.ts';
import type { LegLimits } from '../leg-limits.ts';

/** How long the peer may take to answer our close before the connection is cut. */
const CLOSE_TIMEOUT_MS = 2000;
/** RFC 6455 §5.5: a control frame holds 125 bytes, two of which are the code. */
const CLOSE_REASON_BYTES = 123;
const NORMAL_CLOSURE = 1000;
/** No close frame came (RFC 6455 §7.1.5). */
const ABNORMAL_CLOSURE = 1006;
/**
 * How long a carrier that can be probed may answer without any sound: it answers for a phone that is dead as for one
 * that is muted.
 */
const SOUNDLESS_MAX_MS = 600_000;
/** How long that does not count because the far side holds the call, as over SIP. */
const HELD_MAX_MS = 2 * 3_600_000;

interface LegOptions {
  readonly socket: WebSocket;
  readonly dialect: Dialect;
  readonly limits: LegLimits;
  readonly clock: Clock;
  readonly handlers: LegHandlers;
  /** Left out = the carrier cannot give a call to somebody else. */
  readonly transfer?: TransferCall | undefined;
  /** Since when, by the clock, the far side holds the call: null = it does not, left out = that is never known. */
  readonly heldSinceMs?: (() => number | null) | undefined;
  /** Tells what is published from now on, and returns what ends that; left out = the carrier is told of no captions. */
  readonly follow?: ((reader: (event: FeedEvent) => void) => () => void) | undefined;
}

/** `text` cut to the length that fits a close frame, never inside a character. */
function closeReason(text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(CLOSE_REASON_BYTES));
  return text.slice(0, read);
}

/** What an error of `ws` means: the peer violated the protocol (error codes WS_ERR_…), or the connection broke. */
function endOfSocketError(error: Error & { readonly code?: unknown }): LegEnd {
  const name = String(error.code);
  if (name === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return { reason: 'error', code: 'message_too_large', error };
  if (name.startsWith('WS_ERR_')) return { reason: 'error', code: 'message_malformed', error };
  return { reason: 'lost', code: null, error };
}

function endOfFailure(error: TrunklineError): LegEnd {
  const timedOut = error.code === 'start_timeout' || error.code === 'media_timeout';
  return { reason: timedOut ? 'timeout' : 'error', code: error.code, error };
}

/** One carrier connection. The HTTP server sets the socket's message size limit (`maxPayload`). */
export class WebSocketLeg implements CallLeg {
  readonly #socket: WebSocket;
  readonly #dialect: Dialect;
  readonly #limits: LegLimits;
  readonly #clock: Clock;
  readonly #handlers: LegHandlers;
  readonly #transfer: TransferCall | undefined;
  readonly #heldSinceMs: () => number | null;
  readonly #follow: LegOptions['follow'];
  #start: CallStart | null = null;
  #transcripts: CallTranscripts | null = null;
  /** The transfer that is under way. */
  #transferring: Promise<TransferOutcome> | null = null;
  /** Why we are closing; null while the leg is open. */
  #end: LegEnd | null = null;
  #lastMessageMs: number;
  /** When sound or a key came last. */
  #lastSoundMs: number;
  /** The time-out for start, then for media, then for the close. */
  #timer: Timer;

  constructor(options: LegOptions) {
    this.#socket = options.socket;
    this.#dialect = options.dialect;
    this.#limits = options.limits;
    this.#clock = options.clock;
    this.#handlers = options.handlers;
    this.#transfer = options.transfer;
    this.#heldSinceMs = options.heldSinceMs ?? (() => null);
    this.#follow = options.follow;
    this.#lastMessageMs = this.#clock.nowMs();
    this.#lastSoundMs = this.#lastMessageMs;
    this.#timer = this.#clock.after(this.#limits.startTimeoutMs, () => this.#onStartTimeout());
    // Our sockets keep the default binaryType of ws, so each message is one Buffer.
    this.#socket.on('message', (data, isBinary) => this.#onMessage(data as Buffer, isBinary));
    this.#socket.on('error', (error) => this.#onSocketError(error));
    this.#socket.on('close', (code) => this.#onSocketClosed(code));
  }

  /**
   * Sends a command. Throws what the dialect throws. Fails the leg with `reader_too_slow` when too many bytes wait to
   * be sent. Does nothing while the leg is closing.
   */
  send(command: CarrierCommand): void {
    if (this.#end !== null) return;
    this.#write([this.#dialect.format(command)].flat());
  }

  #write(messages: readonly WireMessage[]): void {
    if (this.#end !== null) return;
    const waiting = this.#socket.bufferedAmount;
    if (waiting > this.#limits.sendBufferMaxBytes) {
      this.fail(
        new TrunklineError(
          'reader_too_slow',
          `the peer reads too slowly: ${waiting} bytes wait, expected at most ${this.#limits.sendBufferMaxBytes}`,
        ),
      );
      return;
    }
    // Errors while sending are reported by the socket's 'error' and 'close'.
    for (const message of messages) this.#socket.send(message, () => {});
  }

  /** Closes from our side. `onClosed` follows when the peer has answered, or after 2 s. */
  close(code: number, reason: string): void {
    if (code === NORMAL_CLOSURE) this.#signal('hangup');
    this.#beginClose({ reason: 'closed', code: null, error: null }, code, reason);
  }

  /** Closes because of `error`, with its close code and message. */
  fail(error: TrunklineError): void {
    this.#beginClose(endOfFailure(error), error.closeCode, error.message);
  }

  /** Stops reading, so that TCP slows the carrier down. The media time-out is suspended meanwhile. */
  pause(): void {
    if (this.#end === null) this.#socket.pause();
  }

  resume(): void {
    this.#lastMessageMs = this.#clock.nowMs();
    this.#lastSoundMs = this.#lastMessageMs;
    this.#socket.resume();
  }

  async transfer(request: TransferRequest): Promise<TransferOutcome> {
    if (this.#start === null || this.#end !== null || this.#transferring !== null) return 'unsupported';
    this.#transferring = this.#transfer?.(this.#start, request) ?? null;
    const outcome = (await this.#transferring) ?? 'unsupported';
    this.#transferring = null;
    return outcome;
  }

  /** Tells an end that may come of a transfer only after that is settled. */
  #tellEnd(tell: () => void): void {
    if (this.#transferring === null) tell();
    else void this.#transferring.then(nextTurn).then(tell);
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#end !== null) return;
    this.#lastMessageMs = this.#clock.nowMs();
    try {
      const events = [this.#dialect.receive(isBinary ? data : data.toString())].flat();
      for (const event of events) this.#tell(event);
    } catch (error) {
      this.#failWith(error);
    }
  }

  #tell(event: CarrierEvent): void {
    if (this.#end !== null) return;
    if (event.type === 'start') this.#begin(event.start);
    if (event.type === 'audio' || event.type === 'dtmf') this.#lastSoundMs = this.#lastMessageMs;
    if (event.type === 'stop') this.#tellEnd(() => this.#handlers.onEvent(event));
    else this.#handlers.onEvent(event);
    if (event.type === 'start') this.#signal('answer');
  }

  #begin(start: CallStart): void {
    this.#start = start;
    this.#watchMedia(this.#limits.mediaTimeoutMs / 2);
    const { callId, streamId } = start;
    const dialect = this.#dialect;
    if (dialect.transcript === undefined || this.#follow === undefined) return;
    this.#transcripts = new CallTranscripts({
      ids: [callId, `${callId}:${streamId}`],
      send: (caption) => this.#write([dialect.transcript?.(caption) ?? []].flat()),
    });
    this.#transcripts.followWith(this.#follow);
  }

  #signal(signal: CarrierSignal): void {
    if (this.#end !== null || this.#start === null || this.#dialect.signal === undefined) return;
    const message = this.#dialect.signal(signal);
    if (message !== null) this.#socket.send(message, () => {});
  }

  #failWith(error: unknown): void {
    if (error instanceof TrunklineError) {
      this.fail(error);
      return;
    }
    const cause = error instanceof Error ? error : new Error(String(error));
    const internal = new TrunklineError('internal', 'the server failed, and the call could not go on');
    this.#beginClose({ reason: 'error', code: 'internal', error: cause }, internal.closeCode, internal.message);
  }

  #onStartTimeout(): void {
    this.fail(new TrunklineError('start_timeout', `no start within ${this.#limits.startTimeoutMs} ms`));
  }

  /** One timer that checks the time of the last message, because resetting a timer 50 times a second costs more. */
  #watchMedia(delayMs: number): void {
    this.#timer.cancel();
    this.#timer = this.#clock.after(delayMs, () => {
      if (this.#socket.isPaused) this.#lastMessageMs = this.#clock.nowMs();
      if (this.#isSoundless()) return;
      const { mediaTimeoutMs } = this.#limits;
      const silentMs = this.#clock.nowMs() - this.#lastMessageMs;
      const halfMs = mediaTimeoutMs / 2;
      if (silentMs < halfMs) this.#watchMedia(halfMs - silentMs);
      else if (silentMs < mediaTimeoutMs) this.#probe(mediaTimeoutMs - silentMs);
      else this.fail(new TrunklineError('media_timeout', `no message within ${mediaTimeoutMs} ms`));
    });
  }

  /** Fails the leg when it has been without sound for too long. */
  #isSoundless(): boolean {
    const nowMs = this.#clock.nowMs();
    const heldSinceMs = this.#heldSinceMs();
    const isHeld = heldSinceMs !== null && nowMs - heldSinceMs < HELD_MAX_MS;
    if (this.#socket.isPaused || isHeld) this.#lastSoundMs = nowMs;
    const soundlessMaxMs = Math.max(SOUNDLESS_MAX_MS, this.#limits.mediaTimeoutMs);
    if (nowMs - this.#lastSoundMs < soundlessMaxMs) return false;
    this.fail(new TrunklineError('media_timeout', `neither sound nor a key within ${soundlessMaxMs} ms`));
    return true;
  }

  #probe(leftMs: number): void {
    this.#signal('probe');
    this.#watchMedia(leftMs);
  }

  #beginClose(end: LegEnd, code: number, reason: string): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#cutAfterTimeout();
    // A paused socket would not see the peer's answer.
    this.#socket.resume();
    this.#socket.close(code, closeReason(reason));
  }

  #cutAfterTimeout(): void {
    this.#timer.cancel();
    this.#timer = this.#clock.after(CLOSE_TIMEOUT_MS, () => this.#socket.terminate());
  }

  #onSocketError(error: Error): void {
    if (this.#end !== null) return;
    // The library closes the socket itself after an error; we only wait for that.
    this.#end = endOfSocketError(error);
    this.#cutAfterTimeout();
  }

  #onSocketClosed(code: number): void {
    this.#timer.cancel();
    this.#transcripts?.close();
    this.#end ??= { reason: code === ABNORMAL_CLOSURE ? 'lost' : 'closed', code: null, error: null };
    const end = this.#end;
    this.#tellEnd(() => this.#handlers.onClosed(end));
  }
}
