import type { CarrierEvent } from '../protocols/dialect.ts';
import type { LegEnd, LegHandlers } from './leg.ts';

/** Whom a leg tells: the pending call at first, the call itself once there is one. */
export class LegHandover implements LegHandlers {
  #receiver: LegHandlers;

  constructor(receiver: LegHandlers) {
    this.#receiver = receiver;
  }

  /** From now on `receiver` is told. */
  handOver(receiver: LegHandlers): void {
    this.#receiver = receiver;
  }

  onEvent(event: CarrierEvent): void {
    this.#receiver.onEvent(event);
  }

  onClosed(end: LegEnd): void {
    this.#receiver.onClosed(end);
  }
}
