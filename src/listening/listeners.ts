/** Counts and admits listening sessions: each is a load of the engines like a call. */
import type { Engine } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import { FIRM_LOAD_MAX } from '../foundation/engine-room.ts';
import { TrunklineError } from '../foundation/errors.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import { type ClientSocket, ListenerPlace, type ListenerSession } from './listener-place.ts';
import { type ListenerOwner, mayTakePlace, type Share } from './shares.ts';

/** How long the last finals of sessions may take that the server ends, and the answers to their closing. */
const LAST_FINALS_MS = 5000;

/** The ways in, as the metric names them; `speak` are sessions that turn text into speech. */
export const LISTENER_KINDS = ['qwen', 'deepgram', 'flux', 'realtime', 'jambonz', 'speak'] as const;

/** One of {@link LISTENER_KINDS}. */
export type ListenerKind = (typeof LISTENER_KINDS)[number];

/** Sound, and what is to be said, comes in text there. */
const TEXT_KINDS: readonly ListenerKind[] = ['realtime', 'speak'];

interface ListenersOptions {
  readonly engine: Pick<Engine, 'firmLoad' | 'wake'>;
  readonly settings: Pick<Settings, 'LISTENERS_MAX'>;
  readonly metrics: Pick<Metrics, 'listeners'>;
  readonly clock: Clock;
  isDraining(): boolean;
}

interface Entrance {
  readonly owner: ListenerOwner;
  readonly socket: ClientSocket;
  readonly session: ListenerSession;
}

/** The listening sessions of one gateway. */
export class Listeners {
  readonly #options: ListenersOptions;
  readonly #open: Record<ListenerKind, number>;
  readonly #places = new Set<ListenerPlace>();
  #drained: Promise<void> | null = null;
  #onEmpty: () => void = () => undefined;

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#open = { qwen: 0, deepgram: 0, flux: 0, realtime: 0, jambonz: 0, speak: 0 };
    for (const kind of LISTENER_KINDS) options.metrics.listeners.set({ kind }, 0);
  }

  /** Sessions of all kinds. */
  get count(): number {
    return this.#places.size;
  }

  /**
   * Returns if `owner` may open another session: to be asked before the handshake is answered. Where there is no place,
   * the session gives way that has been silent for longest. The engines are started meanwhile, where they are not.
   * @throws TrunklineError `draining`, or `too_many_listeners` when LISTENERS_MAX are open, the owner has its share of
   * them, or the engines have no room
   */
  admit(owner: ListenerOwner): void {
    const { engine, isDraining } = this.#options;
    if (isDraining() || this.#drained !== null)
      throw new TrunklineError('draining', 'the server is shutting down and takes no new sessions');
    // A server that was busy a moment ago and has no session left has nobody to protect.
    if (this.count > 0 && engine.firmLoad >= FIRM_LOAD_MAX)
      throw new TrunklineError(
        'too_many_listeners',
        `live work takes ${Math.floor(engine.firmLoad * 100)} % of the engines' time, so no session can be added`,
      );
    const share = mayTakePlace(owner, this.#places, this.#options.settings.LISTENERS_MAX);
    if (share !== null) this.#makeRoom(share);
    engine.wake();
  }

  /** A session is open on `socket`, until that closes. What the session is asked to do must not throw. */
  enter(kind: ListenerKind, { owner, socket, session }: Entrance): void {
    const { clock } = this.#options;
    const place = new ListenerPlace({
      owner,
      socket,
      session,
      clock,
      takesText: TEXT_KINDS.includes(kind),
      // Programs keep speech open between sentences.
      endsSilent: kind !== 'speak',
    });
    place.onFreed = () => this.#leave(place, kind);
    this.#places.add(place);
    this.#change(kind, 1);
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
    if (this.#places.size === 0) return;
    const { clock } = this.#options;
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    if (await settlesWithin(clock, emptied, timeoutMs)) return;
    for (const place of [...this.#places]) place.finish();
    await settlesWithin(clock, emptied, LAST_FINALS_MS);
  }

  /** Of those who share what there is too little of. @throws TrunklineError `too_many_listeners` */
  #makeRoom({ isOf, message }: Share): void {
    const nowMs = this.#options.clock.nowMs();
    const silent = [...this.#places].filter((place) => isOf(place.owner) && place.mayGiveWay(nowMs));
    const [eldest] = silent.toSorted((one, other) => other.silentMs(nowMs) - one.silentMs(nowMs));
    if (eldest === undefined) throw new TrunklineError('too_many_listeners', message);
    eldest.giveWay();
  }

  #leave(place: ListenerPlace, kind: ListenerKind): void {
    this.#places.delete(place);
    this.#change(kind, -1);
    if (this.#places.size === 0) this.#onEmpty();
  }

  #change(kind: ListenerKind, by: 1 | -1): void {
    this.#open[kind] += by;
    this.#options.metrics.listeners.set({ kind }, this.#open[kind]);
  }
}
