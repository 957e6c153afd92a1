/** A clock that moves only when it is told to. */
import type { Clock, Timer } from './clock.ts';

interface Due {
  readonly id: number;
  atMs: number;
  readonly periodMs: number | null;
  readonly action: () => void;
}

/** Its wall clock began in 2026 unless it is told. */
const BEGAN = Date.UTC(2026, 0, 1);

/** Timers fire in the order of their times. */
export class VirtualClock implements Clock {
  readonly #beganMs: number;
  #nowMs = 0;
  #nextId = 1;
  readonly #due = new Map<number, Due>();

  /** `began` = its wall clock at the beginning. */
  constructor(began = new Date(BEGAN)) {
    this.#beganMs = began.getTime();
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wall(): Date {
    return new Date(this.#beganMs + this.#nowMs);
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

  /** Moves time on without firing what falls due: it fires late, at the next {@link advance}. */
  protected skip(durationMs: number): void {
    this.#nowMs += durationMs;
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
