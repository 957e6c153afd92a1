import { VirtualClock } from '../../src/foundation/virtual-clock.ts';

/** A clock that moves only when the test says so. Timers fire in the order of their times. */
export class FakeClock extends VirtualClock {
  /** The process is held up for `durationMs`: whatever falls due meanwhile fires at the end, late. */
  stall(durationMs: number): void {
    this.skip(durationMs);
    this.advance(0);
  }

  /** Like {@link advance} in steps of `stepMs`, letting promises settle between the steps. */
  async run(durationMs: number, stepMs = 10): Promise<void> {
    for (let leftMs = durationMs; leftMs > 0; leftMs -= stepMs) {
      this.advance(Math.min(stepMs, leftMs));
      await settle();
    }
  }
}

/** Lets every promise that can settle now do so. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
