/** Counts and admits listening sessions: each is a load of the engines like a call. */
import type { Engine } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import { FIRM_LOAD_MAX } from '../foundation/engine-room.ts';
import { TrunklineError } from '../foundation/errors.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { settlesWithin } from '../foundation/settles-within.ts';

/** How long the last finals of sessions may take that the server ends, and the answers to their closing. */
const LAST_FINALS_MS = 5000;

/** The ways in, as the metric names them; `speak` are sessions that turn text into speech. */
export const LISTENER_KINDS = ['qwen', 'deepgram', 'flux', 'realtime', 'jambonz', 'speak'] as const;

/** One of {@link LISTENER_KINDS}. */
export type ListenerKind = (typeof LISTENER_KINDS)[number];

interface ListenersOptions {
  readonly engine: Pick<Engine, 'firmLoad'>;
  readonly settings: Pick<Settings, 'LISTENERS_MAX'>;
  readonly metrics: Pick<Metrics, 'listeners'>;
  readonly clock: Clock;
  isDraining(): boolean;
}

interface OpenSession {
  /** Ends it as its protocol has it, its last finals first. */
  finish(): void;
}

/** The listening sessions of one gateway. */
export class Listeners {
  readonly #options: ListenersOptions;
  readonly #open: Record<ListenerKind, number>;
  readonly #sessions = new Set<OpenSession>();
  #drained: Promise<void> | null = null;
  #onEmpty: () => void = () => undefined;

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
    if (isDraining() || this.#drained !== null)
      throw new TrunklineError('draining', 'the server is shutting down and takes no new sessions');
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

  /**
   * A session of `kind` is open; `finish` ends it as its protocol has it, its last finals first, and must not throw.
   * Returns what to call when its socket is closed; a second call does nothing.
   */
  enter(kind: ListenerKind, finish: () => void): () => void {
    const session: OpenSession = { finish };
    this.#sessions.add(session);
    this.#change(kind, 1);
    return () => {
      if (!this.#sessions.delete(session)) return;
      this.#change(kind, -1);
      if (this.#sessions.size === 0) this.#onEmpty();
    };
  }

  /**
   * No new sessions from now on. Resolves when all have ended: by themselves, or after `timeoutMs` by us. Those that
   * are not over some seconds later stay open. Asked again, it returns the same promise.
   */
  drain(timeoutMs: number): Promise<void> {
    this.#drained ??= this.#drain(timeoutMs);
    return this.#drained;
  }

  async #drain(timeoutMs: number): Promise<void> {
    if (this.#sessions.size === 0) return;
    const { clock } = this.#options;
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    if (await settlesWithin(clock, emptied, timeoutMs)) return;
    for (const { finish } of [...this.#sessions]) finish();
    await settlesWithin(clock, emptied, LAST_FINALS_MS);
  }

  #change(kind: ListenerKind, by: 1 | -1): void {
    this.#open[kind] += by;
    this.#options.metrics.listeners.set({ kind }, this.#open[kind]);
  }
}
