/**
 * The playout of one call: it takes sounds, which may still grow, sends frames when they are due, and tracks how much
 * the caller has heard.
 *
 * All sounds of a call lie on one timeline, counted in frames from the start of the call: heard ≤ sent ≤ queued. A
 * carrier that buffers is sent a small lead, and a mark after each sound, which comes back when the sound was played. A
 * carrier that does not buffer gets each frame when it is due by an absolute schedule, so that delays of timers do not
 * add up. Cleared frames count as not sent, so they can be sent again from the point that was heard.
 */
import type { Clock, Timer } from '../../foundation/clock.ts';
import { type Codec, FRAME_MS } from '../../foundation/units.ts';
import type { CarrierCommand } from '../../protocols/dialect.ts';
import { PlacedSound } from './placed-sound.ts';

/** A carrier that buffers gets more frames when its lead has shrunk by this: one timer for five frames. */
const REFILL_MS = 100;
/**
 * A paced frame that is less late than this catches up with its schedule; after a longer delay the schedule restarts.
 * After such a delay RTP has skipped slots (it does so 80 ms behind a slot, which is at most 28 ms behind its frame),
 * and Asterisk has skipped timestamps. A burst of missed frames would only add delay.
 */
const HOLD_UP_MAX_MS = 110;
/** A schedule that restarts is one frame ahead: RTP's next slot is less than a frame away. */
const RESTART_LEAD_MS = FRAME_MS;
/** A mark that is this much later than the ones before it counts as lost. */
const MARK_GRACE_MS = 1000;
/** A larger lag of a mark does not show when its sound was heard. */
const LAG_MAX_MS = 1000;
/** Sounds that may wait on the timeline without having begun. */
const WAITING_MAX = 2;

/** A sound that grows while it is played. Once it was dropped, what comes is ignored. */
export interface OpenSound {
  /** Adds whole frames of the call's codec. */
  add(bytes: Uint8Array): void;
  /** Nothing more comes; to be called before another sound is opened. */
  end(): void;
}

/** Follows what the carrier gets, frame by frame. */
export interface PlayoutTap {
  /**
   * Whole frames were sent that begin to sound at `atMs` of the clock at the earliest, and probably by `lagMs` later.
   */
  sent(bytes: Uint8Array, atMs: number, lagMs: number): void;
  /** The last `frames` of those sent will not be heard. */
  takenBack(frames: number): void;
}

/** How the carrier takes sound, and the functions that report progress. */
export interface PlayoutOptions<S> {
  readonly codec: Codec;
  readonly clock: Clock;
  /** Whether the carrier buffers what it gets, returns marks and can be cleared. */
  readonly buffered: boolean;
  /** The longest lead of a carrier that buffers. */
  readonly leadMs: number;
  /**
   * Frames in each message to the carrier, 1 by default. Sounds are padded to whole messages, and a resumed sound
   * begins with a whole message.
   */
  readonly framesPerMessage?: number;
  readonly taps?: readonly PlayoutTap[] | undefined;
  send(command: CarrierCommand): void;
  /** The first frame of `sound` was sent. Not called again when it is resent after a pause. */
  onBegun(sound: S): void;
  /** `sound` was played to its end. */
  onHeard(sound: S): void;
  onMarkLost(): void;
  /** The work of a timer failed. */
  onFailure(error: unknown): void;
}

export class Playout<S> {
  readonly #options: PlayoutOptions<S>;
  readonly #messageFrames: number;
  /** Sounds not yet heard to their end, in order and without gaps. */
  #line: PlacedSound<S>[] = [];
  /** How many frames were queued, were sent to the carrier, and were heard at least. */
  #queued = 0;
  #sent = 0;
  #heard = 0;
  /** When the carrier will have played everything that was sent, by the clock. */
  #sentUntilMs = 0;
  /** How much later than expected by the clock the carrier's marks come. */
  #lagMs = 0;
  #marks = 0;
  #paused = false;
  #timer: Timer | null = null;
  #events: (() => void)[] = [];
  #roomWaiters: (() => void)[] = [];

  constructor(options: PlayoutOptions<S>) {
    this.#options = options;
    this.#messageFrames = options.framesPerMessage ?? 1;
  }

  /** Whether nothing is left to play. */
  get idle(): boolean {
    return this.#line.length === 0;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** How much queued sound was not heard yet, in ms. */
  get aheadMs(): number {
    return (this.#queued - this.#heardNow()) * FRAME_MS;
  }

  /** Adds a sound, still empty, at the end of the timeline. It begins to play with its first frames. */
  open(sound: S): OpenSound {
    const { codec } = this.#options;
    const placed = new PlacedSound({ sound, from: this.#queued, codec, messageFrames: this.#messageFrames });
    this.#line.push(placed);
    return {
      add: (bytes) => this.#grow(placed, () => placed.add(bytes)),
      end: () => this.#grow(placed, () => placed.end()),
    };
  }

  /** Resolves when there is room for another sound, and when sounds are dropped. */
  room(): Promise<void> {
    if (this.#waiting() < WAITING_MAX) return Promise.resolve();
    return new Promise((resolve) => this.#roomWaiters.push(resolve));
  }

  /** Stops playing and remembers the position. */
  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#takeBack();
    this.#turn();
  }

  /** Continues with the first frame that was not heard. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#sentUntilMs = Math.max(this.#sentUntilMs, this.#options.clock.nowMs());
    this.#turn();
  }

  /**
   * A mark came back. If its sound was cleared, nothing waits for it and it is ignored: no name is used twice.
   */
  onMark(name: string): void {
    const index = this.#line.findIndex((placed) => placed.mark === name);
    const placed = this.#line[index];
    if (placed === undefined || placed.dueMs === null) return;
    // The position must not go back now that the lag is known.
    this.#heard = this.#heardNow();
    this.#lagMs = Math.min(Math.max(this.#options.clock.nowMs() - placed.dueMs, 0), LAG_MAX_MS);
    for (const earlier of this.#line.slice(0, index + 1)) earlier.confirmed = true;
    this.#turn();
  }

  /** How much of a sound was heard, in ms; 0 for a sound that is not on the timeline. */
  heardMs(sound: S): number {
    const placed = this.#line.find((each) => each.sound === sound);
    if (placed === undefined) return 0;
    return Math.min(Math.max(this.#heardNow() - placed.from, 0), placed.frames) * FRAME_MS;
  }

  /** How long it takes until a sound on the timeline is heard, in ms; 0 if that has begun, or it is not there. */
  startsInMs(sound: S): number {
    const placed = this.#line.find((each) => each.sound === sound);
    return placed === undefined ? 0 : Math.max(placed.from - this.#heardNow(), 0) * FRAME_MS;
  }

  /** Drops the first sound that `matches` and all sounds after it. Clears those that the carrier has buffered. */
  drop(matches: (sound: S) => boolean): void {
    const index = this.#line.findIndex(({ sound }) => matches(sound));
    const first = this.#line[index];
    if (first !== undefined) {
      const atCarrier = this.#sent > first.from;
      if (atCarrier) this.#takeBack();
      this.#line.splice(index);
      this.#queued = Math.max(first.from, this.#heard);
      // The sound was cut in the middle of a message, and the rest of that message is dropped too.
      if (this.#heard > first.from) this.#sent = this.#queued;
    }
    this.#makeRoom();
    this.#turn();
  }

  /** Stops for good: cancels the timer and resolves all who wait for room. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#line = [];
    this.#queued = this.#sent;
    this.#makeRoom();
  }

  #grow(placed: PlacedSound<S>, change: () => void): void {
    if (this.#line.at(-1) !== placed) return;
    // The schedule does not catch up on time in which there was nothing to play.
    if (this.#sent === this.#queued) this.#sentUntilMs = Math.max(this.#sentUntilMs, this.#options.clock.nowMs());
    change();
    this.#queued = placed.to;
    this.#turn();
  }

  /**
   * Sends due frames, updates what was heard, and sets the timer. Handlers are called last, because they may change
   * this playout.
   */
  #turn(): void {
    this.#heard = this.#heardNow();
    if (!this.#paused) this.#serve();
    this.#settle();
    this.#setTimer();
    if (this.#waiting() < WAITING_MAX) this.#makeRoom();
    for (const tell of this.#events.splice(0)) tell();
  }

  /** The carrier's position now, in frames: frames sent, less those that it cannot have played yet. */
  #heardNow(): number {
    const unplayedMs = Math.max(this.#sentUntilMs + this.#lagMs - this.#options.clock.nowMs(), 0);
    return Math.max(this.#heard, this.#sent - unplayedMs / FRAME_MS);
  }

  #serve(): void {
    const { buffered, leadMs, clock } = this.#options;
    const nowMs = clock.nowMs();
    // A carrier whose buffer ran empty starts to play when something arrives. A paced schedule is kept unless it is too
    // far behind.
    if (buffered) this.#sentUntilMs = Math.max(this.#sentUntilMs, nowMs);
    else if (nowMs - this.#sentUntilMs >= HOLD_UP_MAX_MS) this.#sentUntilMs = nowMs - RESTART_LEAD_MS;
    const untilMs = buffered ? nowMs + leadMs - FRAME_MS : nowMs;
    for (const placed of this.#line) {
      if (placed.dueMs !== null) continue;
      if (!this.#sendFrames(placed, untilMs) || !placed.hasEnded) return;
      this.#sendMark(placed);
    }
  }

  /** Sends the due frames of a sound and returns whether all that there is of it was sent. */
  #sendFrames(placed: PlacedSound<S>, untilMs: number): boolean {
    const { send, taps = [], onBegun } = this.#options;
    while (this.#sent < placed.to) {
      if (this.#sentUntilMs > untilMs) return false;
      if (!placed.begun) this.#events.push(() => onBegun(placed.sound));
      placed.begun = true;
      const bytes = placed.messageAt(this.#sent);
      send({ type: 'audio', bytes });
      for (const tap of taps) tap.sent(bytes, this.#sentUntilMs, this.#lagMs);
      this.#sent += this.#messageFrames;
      this.#sentUntilMs += this.#messageFrames * FRAME_MS;
    }
    return true;
  }

  #sendMark(placed: PlacedSound<S>): void {
    placed.dueMs = this.#sentUntilMs;
    if (!this.#options.buffered || placed.to === placed.from) {
      placed.confirmed = true;
      return;
    }
    this.#marks++;
    placed.mark = `s${this.#marks}`;
    this.#options.send({ type: 'mark', name: placed.mark });
  }

  #settle(): void {
    const { clock, onHeard, onMarkLost } = this.#options;
    const nowMs = clock.nowMs();
    for (let head = this.#line[0]; head !== undefined && this.#overAtMs(head) <= nowMs; head = this.#line[0]) {
      const { sound, confirmed, to } = head;
      this.#line.shift();
      this.#heard = Math.max(this.#heard, to);
      if (!confirmed) this.#events.push(onMarkLost);
      this.#events.push(() => onHeard(sound));
    }
  }

  /** When a sound counts as heard: when it is due, or later if its mark is still missing. */
  #overAtMs({ dueMs, confirmed }: PlacedSound<S>): number {
    if (dueMs === null) return Number.POSITIVE_INFINITY;
    return confirmed ? dueMs : dueMs + this.#lagMs + MARK_GRACE_MS;
  }

  /**
   * Takes back all frames that were sent but not heard; a carrier without a buffer has none. Frames that were heard by
   * the clock count as heard, with or without their mark.
   */
  #takeBack(): void {
    const { buffered, clock, taps = [], send } = this.#options;
    const heard = buffered ? Math.floor(this.#heardNow()) : this.#sent;
    const atCarrier = this.#sent > heard;
    for (const tap of taps) tap.takenBack(this.#sent - heard);
    this.#heard = heard;
    this.#sent = heard;
    this.#sentUntilMs = clock.nowMs();
    for (const placed of this.#line) {
      if (placed.from < heard && heard < placed.to) this.#sent -= (heard - placed.from) % this.#messageFrames;
      placed.mark = null;
      placed.confirmed = placed.hasEnded && placed.to <= heard;
      placed.dueMs = placed.confirmed ? this.#sentUntilMs : null;
    }
    // Last, because the carrier returns the marks of cleared sounds, which must be ignored.
    if (atCarrier) send({ type: 'clear' });
  }

  #setTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
    const atMs = this.#nextMs();
    if (atMs === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.max(atMs - this.#options.clock.nowMs(), 0);
    this.#timer = this.#options.clock.after(delayMs, () => this.#onTimer());
  }

  #nextMs(): number {
    const { buffered, leadMs } = this.#options;
    const head = this.#line[0];
    const overMs = head === undefined ? Number.POSITIVE_INFINITY : this.#overAtMs(head);
    if (this.#paused || this.#sent === this.#queued) return overMs;
    const serveMs = buffered ? this.#sentUntilMs - leadMs + Math.min(REFILL_MS, leadMs / 2) : this.#sentUntilMs;
    return Math.min(serveMs, overMs);
  }

  #onTimer(): void {
    this.#timer = null;
    try {
      this.#turn();
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  #waiting(): number {
    let waiting = 0;
    for (const { begun, from, to } of this.#line) if (!begun && to > from) waiting++;
    return waiting;
  }

  #makeRoom(): void {
    for (const resolve of this.#roomWaiters.splice(0)) resolve();
  }
}
