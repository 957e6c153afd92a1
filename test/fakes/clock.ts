import type { Clock, Timer } from '../../src/foundation/clock.ts';

interface Due {
  readonly id: number;
  atMs: number;
  readonly periodMs: number | null;
  readonly action: () => void;
}

/** A clock that moves only when the test says so. Timers fire in the order of their times. */
export class FakeClock implements Clock {
  #nowMs = 0;
  #nextId = 1;
  readonly #due = new Map<number, Due>();

  nowMs(): number {
    return this.#nowMs;
  }

  wall(): Date {
    return new Date(Date.UTC(2026, 0, 1) + this.#nowMs);
  }

  after(delayMs: number, action: () => void): Timer {
    return this.#add(delayMs, null, action);
  }

  every(periodMs: number, action: () => void): Timer {
    return this.#add(periodMs, periodMs, action);
  }

  /** Timers that are set and not cancelled. */
  get pending(): number {
    return this.#due.size;
  }

  /** Moves time on by `durationMs`, firing every timer that falls due on the way. */
  advance(durationMs: number): void {
    const endMs = this.#nowMs + durationMs;
    for (let next = this.#next(endMs); next !== null; next = this.#next(endMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      if (next.periodMs === null) this.#due.delete(next.id);
      else next.atMs += Math.max(next.periodMs, 1);
      next.action();
    }
    this.#nowMs = endMs;
  }

  /** The process is held up for `durationMs`: whatever falls due meanwhile fires at the end, late. */
  stall(durationMs: number): void {
    this.#nowMs += durationMs;
    this.advance(0);
  }

  /** Like {@link advance} in steps of `stepMs`, letting promises settle between the steps. */
  async run(durationMs: number, stepMs = 10): Promise<void> {
    for (let leftMs = durationMs; leftMs > 0; leftMs -= stepMs) {
      this.advance(Math.min(stepMs, leftMs));
      await settle();
    }
  }

  #add(delayMs: number, periodMs: number | null, action: () => void): Timer {
    const id = this.#nextId++;
    this.#due.set(id, { id, atMs: this.#nowMs + Math.max(delayMs, 0), periodMs, action });
    return { cancel: () => void this.#due.delete(id) };
  }

  #next(endMs: number): Due | null {
    let best: Due | null = null;
    for (const due of this.#due.values()) {
      if (due.atMs > endMs) continue;
      if (best === null || due.atMs < best.atMs || (due.atMs === best.atMs && due.id < best.id)) best = due;
    }
    return best;
  }
}

/** Lets every promise that can settle now do so. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
