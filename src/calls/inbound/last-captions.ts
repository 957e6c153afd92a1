/** How long a call that has ended waits for its last final captions. */
import type { Clock } from '../../foundation/clock.ts';

/**
 * Nothing was recognised for so long: longer than a transcriber keeps asking an engine that fails, for one that never
 * answers.
 */
const STANDSTILL_MAX_MS = 30_000;
/** Once the gateway is being shut down: whoever stops it does not wait for ever. */
const SHUTDOWN_MAX_MS = 30_000;
const LOOK_EVERY_MS = 250;

interface LastCaptionsOptions {
  readonly clock: Clock;
  /** Settles when the last final caption is out. */
  readonly captioned: Promise<unknown>;
  /** Aborts when the rest is to be given up because too much waits. */
  readonly givenUp: AbortSignal;
  /** A number that grows whenever something more was recognised. */
  progress(): number;
  /** Since when, on the clock, the gateway has been waiting for this call to be shut down; null = it is not. */
  shutdownSinceMs(): number | null;
  /** Called a few times a second; gives up what is too late. */
  onLook(): void;
}

/** Why the wait was over: `complete` = nothing is missing. */
export type LastCaptionsEnd = 'complete' | 'overload' | 'shutdown';

/**
 * Waits for the last captions as long as they keep coming; {@link LastCaptionsOptions.onLook} sees to it that none is
 * too late. Leaves no timer behind.
 */
export function awaitLastCaptions(options: LastCaptionsOptions): Promise<LastCaptionsEnd> {
  const { clock, captioned, givenUp, progress, shutdownSinceMs, onLook } = options;
  let moved = { progress: progress(), atMs: clock.nowMs() };
  return new Promise((resolve) => {
    const end = (why: LastCaptionsEnd): void => {
      timer.cancel();
      givenUp.removeEventListener('abort', onGivenUp);
      resolve(why);
    };
    const onGivenUp = (): void => end('overload');
    const look = (): void => {
      const nowMs = clock.nowMs();
      onLook();
      if (progress() > moved.progress) moved = { progress: progress(), atMs: nowMs };
      const shutdownMs = shutdownSinceMs();
      if (shutdownMs !== null && nowMs - shutdownMs >= SHUTDOWN_MAX_MS) end('shutdown');
      else if (nowMs - moved.atMs >= STANDSTILL_MAX_MS) end(shutdownMs === null ? 'overload' : 'shutdown');
    };
    const timer = clock.every(LOOK_EVERY_MS, look);
    givenUp.addEventListener('abort', onGivenUp);
    if (givenUp.aborted) onGivenUp();
    const settled = () => end('complete');
    captioned.then(settled, settled);
  });
}
