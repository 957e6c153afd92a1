/** How many calls this gateway takes at once. */
import type { Engine } from '../../engine-client/engine.ts';
import type { Settings } from '../../foundation/settings/settings.ts';

/** The part of what is used most that calls may take: the rest is for what the mean of half a minute does not show. */
const USE_MAX = 0.85;
/** What was measured says nothing about so many times the calls that are there. */
const GROWTH_MAX = 2;
/** Of the setting: beyond it nothing was tried. */
const CALLS_MAX = 10_000;

interface CallRoomOptions {
  readonly settings: Pick<Settings, 'MAX_CALLS' | 'isMaxCallsMeasured'>;
  readonly engine: Pick<Engine, 'remoteUse' | 'firmLoad'>;
  /** Share of its time that the thread of the gateway worked of late, 0 to 1. */
  readonly threadUse: () => number;
}

/**
 * MAX_CALLS; where that was left to be measured, as many calls as fit by what the ones that are there use. By calls that
 * fit on the cores alone it is never less: the engines here can read these.
 */
export class CallRoom {
  readonly #options: CallRoomOptions;

  constructor(options: CallRoomOptions) {
    this.#options = options;
  }

  /** Most calls at once, judged by the `live` ones. */
  maxFor(live: number): number {
    const { settings, engine, threadUse } = this.#options;
    const remoteUse = settings.isMaxCallsMeasured ? (engine.remoteUse ?? null) : null;
    if (remoteUse === null) return settings.MAX_CALLS;
    const use = Math.max(remoteUse, engine.firmLoad, threadUse());
    const fitting = Math.min((live * USE_MAX) / use, live * GROWTH_MAX);
    return Math.min(Math.max(Math.floor(fitting), settings.MAX_CALLS), CALLS_MAX);
  }
}
