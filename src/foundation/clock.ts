/**
 * The only file that knows the time. Everything that waits or measures takes a {@link Clock}, so tests run on a clock
 * of their own.
 */

/** A pending timer; `cancel` is idempotent and may be called after it fired. */
export interface Timer {
  cancel(): void;
}

/** Time as the gateway sees it. */
export interface Clock {
  /** Monotonic time in ms (fractional); only differences mean anything. */
  nowMs(): number;
  /** Wall-clock time, for what people and other programs read. */
  wall(): Date;
  /**
   * Runs `action` once after `delayMs`. The timer does not keep the process alive by itself when `background` is true.
   */
  after(delayMs: number, action: () => void, background?: boolean): Timer;
  /** Runs `action` every `periodMs` until cancelled. */
  every(periodMs: number, action: () => void, background?: boolean): Timer;
}

/** The machine's own clock. */
export const systemClock: Clock = Object.freeze({
  nowMs: () => performance.now(),
  wall: () => new Date(),
  after(delayMs: number, action: () => void, background = false): Timer {
    const handle = setTimeout(action, delayMs);
    if (background) handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
  every(periodMs: number, action: () => void, background = false): Timer {
    const handle = setInterval(action, periodMs);
    if (background) handle.unref();
    return { cancel: () => clearInterval(handle) };
  },
});

/** Resolves after `delayMs` on `clock`. */
export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}
