/** Counts and admits listening sessions: each is a load of the engines like a call. */
import type { Engine } from '../engine-client/engine.ts';
import { FIRM_LOAD_MAX } from '../foundation/engine-room.ts';
import { TrunklineError } from '../foundation/errors.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';

/** The ways in, as the metric names them; `speak` are sessions that turn text into speech. */
export const LISTENER_KINDS = ['qwen', 'deepgram', 'flux', 'realtime', 'jambonz', 'speak'] as const;

/** One of {@link LISTENER_KINDS}. */
export type ListenerKind = (typeof LISTENER_KINDS)[number];

interface ListenersOptions {
  readonly engine: Pick<Engine, 'firmLoad'>;
  readonly settings: Pick<Settings, 'LISTENERS_MAX'>;
  readonly metrics: Pick<Metrics, 'listeners'>;
  isDraining(): boolean;
}

/** The listening sessions of one gateway. */
export class Listeners {
  readonly #options: ListenersOptions;
  readonly #open: Record<ListenerKind, number>;

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#open = { qwen: 0, deepgram: 0, flux: 0, realtime: 0, jambonz: 0, speak: 0 };
    for (const kind of LISTENER_KINDS) options.metrics.listeners.set({ kind }, 0);
  }

  /** Sessions of all kinds. */
  get count(): number {
    return LISTENER_KINDS.reduce((sum, kind) => sum + this.#open[kind], 0);
  }

  /**
   * Returns if another session may be opened: to be asked before the handshake is answered.
   * @throws TrunklineError `draining`, or `too_many_listeners` when LISTENERS_MAX are open or the engines have no room
   */
  admit(): void {
    const { engine, settings, isDraining } = this.#options;
    const { count } = this;
    if (isDraining()) throw new TrunklineError('draining', 'the server is shutting down and takes no new sessions');
    if (count >= settings.LISTENERS_MAX)
      throw new TrunklineError(
        'too_many_listeners',
        `${count} listening sessions are open and at most ${settings.LISTENERS_MAX} are allowed (LISTENERS_MAX)`,
      );
    // A server that was busy a moment ago and has no session left has nobody to protect.
    if (count > 0 && engine.firmLoad >= FIRM_LOAD_MAX)
      throw new TrunklineError(
        'too_many_listeners',
        `live work takes ${Math.floor(engine.firmLoad * 100)} % of the engines' time, so no session can be added`,
      );
  }

  /** A session of `kind` is open. Returns what to call when it is over; a second call does nothing. */
  enter(kind: ListenerKind): () => void {
    let isOpen = true;
    this.#change(kind, 1);
    return () => {
      if (isOpen) this.#change(kind, -1);
      isOpen = false;
    };
  }

  #change(kind: ListenerKind, by: 1 | -1): void {
    this.#open[kind] += by;
    this.#options.metrics.listeners.set({ kind }, this.#open[kind]);
  }
}
