import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { IdleWatch } from '../foundation/idle-watch.ts';

interface SilenceOptions {
  readonly clock: Clock;
  /** MEDIA_TIMEOUT_MS, or what the protocol says. */
  readonly timeoutMs: number;
  /** Called once, with `media_timeout`. */
  onIdle(error: TrunklineError): void;
}

/** Ends a session whose client sends nothing. It waits from now on; each message is noted. */
export function watchSilence({ clock, timeoutMs, onIdle }: SilenceOptions): Pick<IdleWatch, 'note' | 'close'> {
  const watch = new IdleWatch({
    clock,
    idleMs: timeoutMs,
    hasWork: () => false,
    onIdle() {
      watch.close();
      onIdle(new TrunklineError('media_timeout', `no message came for ${timeoutMs} ms`));
    },
  });
  watch.note();
  return watch;
}
