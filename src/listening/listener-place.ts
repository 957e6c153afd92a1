/** The place of one listening session: how long it has been silent, and who is told that it is over. */
import type { Clock, Timer } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import type { ListenerOwner } from './shares.ts';

/** Who has been silent for so long may lose the place to somebody else. */
const GIVES_WAY_AFTER_MS = 60_000;
/** A session for live audio that has been silent for so long ends. */
const SILENT_MAX_MS = 600_000;

/** The part of a WebSocket that is watched here. */
export interface ClientSocket {
  readonly isPaused: boolean;
  on(event: 'message', listener: (data: unknown, isBinary: boolean) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** What the owner of a socket does at the end. */
export interface ListenerSession {
  /** Whether it works although nothing comes: it speaks. Absent = it only listens. */
  isBusy?(): boolean;
  /** Ends it as its protocol has it, its last finals first. */
  finish(): void;
  /** Closes it with the code for `error`. */
  fail(error: TrunklineError): void;
}

interface PlaceOptions {
  readonly owner: ListenerOwner;
  readonly socket: ClientSocket;
  readonly session: ListenerSession;
  readonly clock: Clock;
  /** Whether text that comes is work, such as sound in JSON; else text only keeps the socket open. */
  readonly takesText: boolean;
  /** Whether it ends when it has been silent for long; else its protocol has a limit of its own. */
  readonly endsSilent: boolean;
}

/** Is taken until its socket closes or it gives way. */
export class ListenerPlace {
  readonly #options: PlaceOptions;
  #heardMs: number;
  #timer: Timer | null = null;
  #isFree = false;
  /** Told once. */
  onFreed: () => void = () => undefined;

  constructor(options: PlaceOptions) {
    const { socket, clock, takesText, endsSilent } = options;
    this.#options = options;
    this.#heardMs = clock.nowMs();
    socket.on('message', (_data, isBinary) => {
      if (isBinary || takesText) this.#heardMs = clock.nowMs();
    });
    socket.once('close', () => this.#free());
    if (endsSilent) this.#lookAfter(SILENT_MAX_MS);
  }

  get owner(): ListenerOwner {
    return this.#options.owner;
  }

  /** Since when nothing to work on has come, in ms. */
  silentMs(nowMs: number): number {
    const { socket, session } = this.#options;
    // Who is not read cannot be heard.
    if (socket.isPaused || session.isBusy?.() === true) this.#heardMs = nowMs;
    return nowMs - this.#heardMs;
  }

  mayGiveWay(nowMs: number): boolean {
    return this.silentMs(nowMs) >= GIVES_WAY_AFTER_MS;
  }

  /** Is free at once: a client may take half a minute to answer a close. */
  giveWay(): void {
    this.#free();
    const message = `nothing came for ${GIVES_WAY_AFTER_MS} ms or more, and somebody else needs the place`;
    this.#options.session.fail(new TrunklineError('silent_session_ended', message));
  }

  /** The server ends. */
  finish(): void {
    this.#options.session.finish();
  }

  #lookAfter(delayMs: number): void {
    const { clock, session } = this.#options;
    this.#timer = clock.after(
      delayMs,
      () => {
        const leftMs = SILENT_MAX_MS - this.silentMs(clock.nowMs());
        if (leftMs > 0) this.#lookAfter(leftMs);
        else session.fail(new TrunklineError('media_timeout', `no sound came for ${SILENT_MAX_MS} ms`));
      },
      true,
    );
  }

  #free(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    this.#timer?.cancel();
    this.onFreed();
  }
}
