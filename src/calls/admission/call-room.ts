/** How many calls this gateway takes at once. */
import type { Engine } from '../../engine-client/engine.ts';
import type { Clock } from '../../foundation/clock.ts';
import { FIRM_LOAD_MAX } from '../../foundation/engine-room.ts';
import { RunningMean, USE_MEAN_MS } from '../../foundation/running-mean.ts';
import type { Settings } from '../../foundation/settings/settings.ts';

/** What was measured says nothing about more calls than so many times those that were there. */
const GROWTH_MAX = 2;
/** As of the setting. */
const CALLS_MAX = 10_000;

interface CallRoomOptions {
  readonly settings: Pick<Settings, 'MAX_CALLS' | 'isMaxCallsMeasured'>;
  readonly engine: Pick<Engine, 'remoteUse' | 'firmLoad'>;
  readonly clock: Clock;
  /** Share of its time that the thread of the gateway worked of late, 0 to 1. */
  readonly threadUse: () => number;
}

/**
 * MAX_CALLS; where that is left to be measured, as many calls as fit by what those use that are there: the servers of
 * ASR_URL, the engines and the thread of the gateway, whichever has least left. Never fewer than fit on the cores: the
 * engines can read these alone.
 */
export class CallRoom {
  readonly #options: CallRoomOptions;
  /** Over as long as the use of servers: calls that have just begun have not used anything. */
  readonly #live: RunningMean;

  constructor(options: CallRoomOptions) {
    this.#options = options;
    this.#live = new RunningMean(options.clock, USE_MEAN_MS);
  }

  /** There are `live` calls from now on. */
  note(live: number): void {
    this.#live.set(live);
  }

  /** Most calls at once. */
  get max(): number {
    const { settings, engine, threadUse } = this.#options;
    const remoteUse = settings.isMaxCallsMeasured ? (engine.remoteUse ?? null) : null;
    if (remoteUse === null) return settings.MAX_CALLS;
    const use = Math.max(remoteUse, engine.firmLoad, threadUse());
    const growth = use === 0 ? GROWTH_MAX : Math.min(FIRM_LOAD_MAX / use, GROWTH_MAX);
    return Math.min(Math.max(Math.round(this.#live.now * growth), settings.MAX_CALLS), CALLS_MAX);
  }
}
