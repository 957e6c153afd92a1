/**
 * The leg of a call on one AudioSocket connection: the socket with all its faults, and silence between sentences,
 * because Asterisk ends a call without audio.
 */

import type { Socket } from 'node:net';
import { frameBytes } from '../../audio/frames.ts';
import type { CallLeg, LegEnd, LegHandlers } from '../../calls/leg.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { CarrierCommand, CarrierEvent } from '../../protocols/dialect.ts';
import type { LegLimits } from '../shared/leg-limits.ts';
import { PacedSilence } from '../shared/paced-silence.ts';
import { AudioSocketDialect, AudioSocketFramer } from './wire/audiosocket.ts';

/** How long Asterisk may take to close its side before the connection is cut. */
const CLOSE_TIMEOUT_MS = 2000;
/**
 * How long a call waits for the sound that shows its rate: half of the 2 s without a frame after which the application
 * hangs up.
 */
const FIRST_SOUND_MS = 1000;

interface LegOptions {
  readonly socket: Socket;
  /** Tells this connection from others that bring the same call id. */
  readonly streamId: string;
  readonly limits: LegLimits & { readonly messageMaxBytes: number };
  readonly clock: Clock;
  readonly handlers: LegHandlers;
}

/** The leg; the socket is its own for good. */
export class AudioSocketLeg implements CallLeg {
  readonly #socket: Socket;
  readonly #framer: AudioSocketFramer;
  readonly #dialect: AudioSocketDialect;
  readonly #limits: LegLimits;
  readonly #clock: Clock;
  readonly #handlers: LegHandlers;
  readonly #silence: PacedSilence;
  /** Why we are closing; null while the leg is open. */
  #end: LegEnd | null = null;
  #peerEnded = false;
  #lastDataMs: number;
  /** Watches for the call id, then for sound, then for the close. */
  #timer: Timer;

  constructor(options: LegOptions) {
    this.#socket = options.socket;
    this.#framer = new AudioSocketFramer(options.limits.messageMaxBytes);
    this.#dialect = new AudioSocketDialect(options.streamId);
    this.#limits = options.limits;
    this.#clock = options.clock;
    this.#handlers = options.handlers;
    this.#silence = new PacedSilence({ clock: options.clock, send: () => this.#write(this.#dialect.silence()) });
    this.#lastDataMs = this.#clock.nowMs();
    this.#timer = this.#clock.after(this.#limits.startTimeoutMs, () => this.#onNoCallId());
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (data) => this.#onData(data));
    this.#socket.on('end', () => this.#onPeerEnd());
    this.#socket.on('error', (error) => this.#onSocketError(error));
    this.#socket.on('close', () => this.#onSocketClosed());
  }

  /**
   * Sends sound. Throws what the dialect throws; fails the leg with `reader_too_slow` when too much is waiting. Ignored
   * once closing.
   */
  send(command: CarrierCommand): void {
    if (this.#end !== null) return;
    const message = this.#dialect.format(command);
    const { codec } = this.#dialect;
    if (command.type === 'audio' && codec !== null) this.#silence.spoke(command.bytes.length / frameBytes(codec));
    this.#write(message);
  }

  /** Tells Asterisk that we are done and closes. `onClosed` follows when it has closed too, or after 2 s. */
  close(): void {
    this.#beginClose({ reason: 'closed', code: null, error: null });
  }

  /** Closes because of `error`. AudioSocket has no message for errors. */
  fail(error: TrunklineError): void {
    const timedOut = error.code === 'start_timeout' || error.code === 'media_timeout';
    this.#beginClose({ reason: timedOut ? 'timeout' : 'error', code: error.code, error });
  }

  /** Stops reading, so that TCP slows Asterisk down. The media time-out waits meanwhile. */
  pause(): void {
    if (this.#end === null) this.#socket.pause();
  }

  /** Reads again. */
  resume(): void {
    this.#lastDataMs = this.#clock.nowMs();
    this.#socket.resume();
  }

  #onData(data: Buffer): void {
    if (this.#end !== null) return;
    this.#lastDataMs = this.#clock.nowMs();
    this.#guard(() => {
      for (const message of this.#framer.push(data)) {
        const { isNamed } = this.#dialect;
        this.#tell(this.#dialect.receive(message));
        if (this.#end !== null) return;
        if (!isNamed) this.#awaitSound();
      }
    });
  }

  #tell(events: readonly CarrierEvent[]): void {
    for (const event of events) {
      if (this.#end !== null) return;
      if (event.type === 'start') this.#begin();
      this.#handlers.onEvent(event);
    }
  }

  #begin(): void {
    this.#silence.begin();
    this.#watchMedia(this.#limits.mediaTimeoutMs);
  }

  #awaitSound(): void {
    this.#timer.cancel();
    this.#timer = this.#clock.after(FIRST_SOUND_MS, () => this.#guard(() => this.#tell(this.#dialect.begin())));
  }

  #onNoCallId(): void {
    this.fail(new TrunklineError('start_timeout', `no call id within ${this.#limits.startTimeoutMs} ms`));
  }

  /** One timer that looks back, rather than one set anew with each of 50 messages a second. */
  #watchMedia(delayMs: number): void {
    this.#timer.cancel();
    this.#timer = this.#clock.after(delayMs, () => {
      if (this.#socket.isPaused()) this.#lastDataMs = this.#clock.nowMs();
      const { mediaTimeoutMs } = this.#limits;
      const leftMs = mediaTimeoutMs - (this.#clock.nowMs() - this.#lastDataMs);
      if (leftMs > 0) this.#watchMedia(leftMs);
      else this.fail(new TrunklineError('media_timeout', `no message within ${mediaTimeoutMs} ms`));
    });
  }

  /** In one write: Asterisk gives a payload that is not there with its header 5 ms at best. */
  #write(message: Uint8Array): void {
    if (this.#end !== null || this.#peerEnded) return;
    this.#socket.write(message);
    const { writableLength } = this.#socket;
    if (writableLength <= this.#limits.sendBufferMaxBytes) return;
    this.fail(
      new TrunklineError(
        'reader_too_slow',
        `the peer reads too slowly: ${writableLength} bytes wait, expected at most ${this.#limits.sendBufferMaxBytes}`,
      ),
    );
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof TrunklineError) this.fail(error);
      else
        this.#beginClose({
          reason: 'error',
          code: 'internal',
          error: error instanceof Error ? error : new Error(String(error)),
        });
    }
  }

  /** Asterisk hangs up by closing. A close in the middle of a message means that the connection was lost. */
  #onPeerEnd(): void {
    this.#peerEnded = true;
    if (this.#end !== null) return;
    if (!this.#framer.isBetweenMessages) this.#end = { reason: 'lost', code: null, error: null };
    else if (this.#dialect.codec !== null) this.#guard(() => this.#tell([{ type: 'stop' }]));
  }

  #beginClose(end: LegEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#silence.end();
    this.#timer.cancel();
    if (!this.#dialect.isNamed) {
      this.#socket.destroy();
      return;
    }
    this.#timer = this.#clock.after(CLOSE_TIMEOUT_MS, () => this.#socket.destroy());
    // A paused socket would not see Asterisk's end.
    this.#socket.resume();
    if (this.#peerEnded) this.#socket.end();
    else this.#socket.end(this.#dialect.hangup());
  }

  #onSocketError(error: Error): void {
    this.#end ??= { reason: 'lost', code: null, error };
  }

  #onSocketClosed(): void {
    this.#timer.cancel();
    this.#silence.end();
    this.#end ??= { reason: 'closed', code: null, error: null };
    this.#handlers.onClosed(this.#end);
  }
}
