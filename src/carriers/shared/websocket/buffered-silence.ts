/**
 * Silence for a carrier that plays from a buffer and sends nothing to the far party while the buffer is empty, as
 * Asterisk does since 22.9. Without it, phones and trunks that time out without RTP would hang up, and first words
 * would be clipped. This wraps a call's leg and tracks how much audio the carrier has buffered. One that plays frames
 * as they come gets them all the time.
 */

import { frameBytes } from '../../../audio/frames.ts';
import { encodeG711 } from '../../../audio/g711.ts';
import type { CallLeg, ConnectLeg, LegHandlers } from '../../../calls/leg.ts';
import type { Clock, Timer } from '../../../foundation/clock.ts';
import type { TrunklineError } from '../../../foundation/errors.ts';
import { FRAME_MS, msToSamples } from '../../../foundation/units.ts';
import type { CallStart, CarrierCommand, CarrierEvent } from '../../../protocols/dialect.ts';
import { PacedSilence } from '../paced-silence.ts';

/**
 * How often we check the carrier's buffer, and how much silence we send at once. Speech that follows waits for at most
 * 60 ms of silence.
 */
const FILL_MS = 2 * FRAME_MS;

/**
 * Wraps `connect`: where the carrier buffers, its leg sends silence from `start` on whenever it has nothing else to
 * send.
 */
export function withSilence(connect: ConnectLeg, clock: Clock): ConnectLeg {
  return (handlers) => new FilledLeg(connect, handlers, clock);
}

class FilledLeg implements CallLeg {
  readonly #leg: CallLeg;
  readonly #clock: Clock;
  #frameBytes = 1;
  #silence: Uint8Array = new Uint8Array(0);
  /** When the carrier will have played its whole buffer, by the clock. */
  #untilMs = 0;
  #timer: Timer | null = null;
  /** Of a carrier that plays frames as they come. */
  #paced: PacedSilence | null = null;
  #over = false;

  constructor(connect: ConnectLeg, handlers: LegHandlers, clock: Clock) {
    this.#clock = clock;
    this.#leg = connect({
      onEvent: (event) => this.#pass(event, handlers),
      onClosed: (end) => {
        this.#stop();
        handlers.onClosed(end);
      },
    });
  }

  send(command: CarrierCommand): void {
    if (command.type === 'audio') this.#count(command.bytes.length / this.#frameBytes);
    // Asterisk confirms a flush when its queue is empty, so the queue is left empty for a while.
    if (command.type === 'clear') this.#untilMs = this.#clock.nowMs() + FILL_MS;
    this.#leg.send(command);
  }

  close(code: number, reason: string): void {
    this.#stop();
    this.#leg.close(code, reason);
  }

  fail(error: TrunklineError): void {
    this.#stop();
    this.#leg.fail(error);
  }

  pause(): void {
    this.#leg.pause();
  }

  resume(): void {
    this.#leg.resume();
  }

  #pass(event: CarrierEvent, handlers: LegHandlers): void {
    if (event.type === 'start') this.#measure(event.start);
    handlers.onEvent(event);
    if (event.type === 'start' && !this.#over) this.#begin(event.start);
  }

  #begin({ playback, wholeSounds }: CallStart): void {
    if (playback === 'buffered' && !wholeSounds) this.#timer = this.#clock.every(FILL_MS, () => this.#fill(), true);
    if (playback !== 'paced') return;
    const bytes = this.#silence.subarray(0, this.#frameBytes);
    this.#paced = new PacedSilence({ clock: this.#clock, send: () => this.#leg.send({ type: 'audio', bytes }) });
    this.#paced.begin();
  }

  #count(frames: number): void {
    if (this.#paced === null) this.#reckon(frames * FRAME_MS);
    else this.#paced.spoke(frames);
  }

  #measure({ codec }: CallStart): void {
    this.#frameBytes = frameBytes(codec);
    this.#silence = encodeG711(new Int16Array(msToSamples(FILL_MS, codec.rateHz)), codec);
  }

  #fill(): void {
    if (this.#untilMs - this.#clock.nowMs() >= FRAME_MS) return;
    this.#reckon(FILL_MS);
    this.#leg.send({ type: 'audio', bytes: this.#silence });
  }

  #reckon(durationMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, this.#clock.nowMs()) + durationMs;
  }

  #stop(): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#paced?.end();
  }
}
