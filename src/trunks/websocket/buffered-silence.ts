/**
 * Silence for a carrier that plays from a buffer and sends the far party nothing at all while that is empty, as
 * Asterisk does since 22.9: phones and trunks that time out without RTP would hang up, and first words be clipped.
 * Stands between a call and its leg, and counts what the carrier has.
 */

import { frameBytes } from '../../audio/frames.ts';
import { encodeG711 } from '../../audio/g711.ts';
import type { CallLeg, ConnectLeg, LegHandlers } from '../../calls/leg.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { TrunklineError } from '../../foundation/errors.ts';
import { FRAME_MS, msToSamples } from '../../foundation/units.ts';
import type { CallStart, CarrierCommand, CarrierEvent } from '../../protocols/dialect.ts';

/**
 * How often the carrier is looked after, and how much silence it gets at once. What is said next waits behind at most
 * 60 ms of it.
 */
const FILL_MS = 2 * FRAME_MS;

/**
 * The same way, to a leg that is kept in silence while nothing else is sent, from `start` on, where the carrier
 * buffers.
 */
export function withSilence(connect: ConnectLeg, clock: Clock): ConnectLeg {
  return (handlers) => new FilledLeg(connect, handlers, clock);
}

class FilledLeg implements CallLeg {
  readonly #leg: CallLeg;
  readonly #clock: Clock;
  #frameBytes = 1;
  #silence: Uint8Array = new Uint8Array(0);
  /** When the carrier has played all it has, by the clock. */
  #untilMs = 0;
  #timer: Timer | null = null;
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
    if (command.type === 'audio') this.#reckon((command.bytes.length / this.#frameBytes) * FRAME_MS);
    // The receipt of a flush comes when the queue is empty: for so long it is left so.
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
    if (event.type === 'start' && event.start.playback === 'buffered' && !this.#over) {
      this.#timer = this.#clock.every(FILL_MS, () => this.#fill(), true);
    }
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
  }
}
