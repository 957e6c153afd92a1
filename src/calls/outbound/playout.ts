/**
 * The playout clock of one call: sound in, frames out when they are due, and an account of what the caller has heard of
 * it.
 *
 * All sound of a call stands on one line, counted in frames from the start of the call: heard ≤ sent ≤ queued. A
 * carrier that buffers is kept a small lead ahead, with a mark behind each sound that comes back when it has been
 * played; one that does not gets each frame when it is due, by an absolute schedule, so that late timers do not add up.
 * Whatever is cleared is taken back on the line, so it can be sent again from where it was heard.
 */
import { frameBytes, padToFrames } from '../../audio/frames.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { type Codec, FRAME_MS } from '../../foundation/units.ts';
import type { CarrierCommand } from '../../protocols/dialect.ts';

/** A carrier that buffers is served again when its lead has shrunk by this: five frames at once cost one timer. */
const REFILL_MS = 100;
/**
 * A paced frame that is less late than this catches up with its schedule; after a longer hold-up the schedule begins
 * anew. By then RTP leaves slots out (it does so 80 ms behind a slot, which is at most 28 ms behind its frame), and
 * Asterisk its timestamps: whatever else came in a burst could only wait.
 */
const HOLD_UP_MAX_MS = 110;
/** What begins anew is a frame ahead: RTP's next slot is less than a frame away. */
const ANEW_MS = FRAME_MS;
/** A mark that is this much later than the ones before it is not coming. */
const MARK_GRACE_MS = 1000;
/** Marks later than this say nothing of when their sound was heard. */
const LAG_MAX_MS = 1000;
/** Sounds that may wait on the line without having begun. */
const WAITING_MAX = 2;

/** Something to be played. */
export interface Sound {
  /** Whole frames of the call's codec; may be empty. */
  readonly bytes: Uint8Array;
}

/** How the carrier takes sound, and who is told what became of it. */
export interface PlayoutOptions<S extends Sound> {
  readonly codec: Codec;
  readonly clock: Clock;
  /** Whether the carrier buffers what it gets, returns marks and can be cleared. */
  readonly buffered: boolean;
  /** Most that a carrier that buffers is sent ahead. */
  readonly leadMs: number;
  /**
   * Frames in each message to the carrier, 1 by default. Sounds are filled up to whole messages, and one that is
   * resumed begins with a whole one.
   */
  readonly framesPerMessage?: number;
  send(command: CarrierCommand): void;
  /** Its first frame was sent; not again when it is sent anew after a pause. */
  onBegun(sound: S): void;
  /** It was played to its end. */
  onHeard(sound: S): void;
  onMarkLost(): void;
  /** A timer's work threw. */
  onFailure(error: unknown): void;
}

interface Placed<S> {
  readonly sound: S;
  /** What is played of it, in whole messages. */
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  begun: boolean;
  /** When its last frame ends by the clock; null while not all of it was sent. */
  dueMs: number | null;
  /** The mark under which it was sent; null = none. */
  mark: string | null;
  /** Nothing speaks against it having been heard once it is due. */
  confirmed: boolean;
}

export class Playout<S extends Sound> {
  readonly #options: PlayoutOptions<S>;
  readonly #frameBytes: number;
  readonly #messageFrames: number;
  /** Sounds not yet heard to their end, in order; their stretches of the line touch. */
  #line: Placed<S>[] = [];
  /** The end of what is queued, of what is with the carrier, and of what was heard at least, in frames. */
  #queued = 0;
  #sent = 0;
  #heard = 0;
  /** When the carrier has played everything that was sent, by the clock. */
  #sentUntilMs = 0;
  /** How much later than by the clock the carrier's marks come. */
  #lagMs = 0;
  #marks = 0;
  #paused = false;
  #timer: Timer | null = null;
  #events: (() => void)[] = [];
  #roomWaiters: (() => void)[] = [];

  constructor(options: PlayoutOptions<S>) {
    this.#options = options;
    this.#frameBytes = frameBytes(options.codec);
    this.#messageFrames = options.framesPerMessage ?? 1;
  }

  /** Whether nothing is left to be played. */
  get idle(): boolean {
    return this.#line.length === 0;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Sound on the line that was not heard yet, in ms. */
  get aheadMs(): number {
    return (this.#queued - this.#heardNow()) * FRAME_MS;
  }

  /** Puts a sound at the end of the line. */
  push(sound: S): void {
    const { clock, codec } = this.#options;
    const bytes = padToFrames(sound.bytes, codec, this.#messageFrames);
    const from = this.#queued;
    const to = from + bytes.length / this.#frameBytes;
    // Whatever time passed with nothing to play is not caught up with.
    if (this.#sent === this.#queued) this.#sentUntilMs = Math.max(this.#sentUntilMs, clock.nowMs());
    this.#line.push({ sound, bytes, from, to, begun: false, dueMs: null, mark: null, confirmed: false });
    this.#queued = to;
    this.#turn();
  }

  /** Resolves when there is room for another sound, and when sounds are thrown away. */
  room(): Promise<void> {
    if (this.#waiting() < WAITING_MAX) return Promise.resolve();
    return new Promise((resolve) => this.#roomWaiters.push(resolve));
  }

  /** Falls silent and remembers where. */
  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#takeBack();
    this.#turn();
  }

  /** Goes on with the first frame that was not heard. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#sentUntilMs = Math.max(this.#sentUntilMs, this.#options.clock.nowMs());
    this.#turn();
  }

  /**
   * A mark came back. One that nobody waits for, because its sound was cleared, says nothing: no name is used twice.
   */
  onMark(name: string): void {
    const index = this.#line.findIndex((placed) => placed.mark === name);
    const placed = this.#line[index];
    if (placed === undefined || placed.dueMs === null) return;
    // What was claimed before the lag was known is not taken back.
    this.#heard = this.#heardNow();
    this.#lagMs = Math.min(Math.max(this.#options.clock.nowMs() - placed.dueMs, 0), LAG_MAX_MS);
    for (const earlier of this.#line.slice(0, index + 1)) earlier.confirmed = true;
    this.#turn();
  }

  /** How much of a sound was heard, in ms; 0 for one that is not on the line. */
  heardMs(sound: S): number {
    const placed = this.#line.find((each) => each.sound === sound);
    if (placed === undefined) return 0;
    return Math.min(Math.max(this.#heardNow() - placed.from, 0), sound.bytes.length / this.#frameBytes) * FRAME_MS;
  }

  /** Throws away the first sound that `matches` and all behind it. What of them is with the carrier is cleared. */
  drop(matches: (sound: S) => boolean): void {
    const index = this.#line.findIndex(({ sound }) => matches(sound));
    const first = this.#line[index];
    if (first !== undefined) {
      const atCarrier = this.#sent > first.from;
      if (atCarrier) this.#takeBack();
      this.#line.splice(index);
      this.#queued = Math.max(first.from, this.#heard);
      // Nothing is left of the message in the middle of which it was cut off.
      if (this.#heard > first.from) this.#sent = this.#queued;
    }
    this.#makeRoom();
    this.#turn();
  }

  /** Falls silent for good. Leaves no timer and nobody waiting. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#line = [];
    this.#queued = this.#sent;
    this.#makeRoom();
  }

  /**
   * Serves the carrier, settles what was heard, sets the timer; only then do others learn of it, so that they may
   * change everything.
   */
  #turn(): void {
    this.#heard = this.#heardNow();
    if (!this.#paused) this.#serve();
    this.#settle();
    this.#setTimer();
    if (this.#waiting() < WAITING_MAX) this.#makeRoom();
    for (const tell of this.#events.splice(0)) tell();
  }

  /** Where the carrier is by now, in frames: what was sent, less what cannot have been played yet. */
  #heardNow(): number {
    const unplayedMs = Math.max(this.#sentUntilMs + this.#lagMs - this.#options.clock.nowMs(), 0);
    return Math.max(this.#heard, this.#sent - unplayedMs / FRAME_MS);
  }

  #serve(): void {
    const { buffered, leadMs, clock } = this.#options;
    const nowMs = clock.nowMs();
    // A carrier's buffer that ran empty begins again when something comes; a paced schedule is kept unless it is too
    // far behind.
    if (buffered) this.#sentUntilMs = Math.max(this.#sentUntilMs, nowMs);
    else if (nowMs - this.#sentUntilMs >= HOLD_UP_MAX_MS) this.#sentUntilMs = nowMs - ANEW_MS;
    const untilMs = buffered ? nowMs + leadMs - FRAME_MS : nowMs;
    for (const placed of this.#line) {
      if (placed.dueMs !== null) continue;
      if (!this.#sendFrames(placed, untilMs)) return;
      this.#sendMark(placed);
    }
  }

  /** Sends what is due of a sound; says whether that was all of it. */
  #sendFrames(placed: Placed<S>, untilMs: number): boolean {
    const { send, onBegun } = this.#options;
    while (this.#sent < placed.to) {
      if (this.#sentUntilMs > untilMs) return false;
      if (!placed.begun) this.#events.push(() => onBegun(placed.sound));
      placed.begun = true;
      const at = (this.#sent - placed.from) * this.#frameBytes;
      send({ type: 'audio', bytes: placed.bytes.subarray(at, at + this.#messageFrames * this.#frameBytes) });
      this.#sent += this.#messageFrames;
      this.#sentUntilMs += this.#messageFrames * FRAME_MS;
    }
    return true;
  }

  #sendMark(placed: Placed<S>): void {
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

  /** When a sound counts as heard: when it is due, unless its mark is still to come. */
  #overAtMs({ dueMs, confirmed }: Placed<S>): number {
    if (dueMs === null) return Number.POSITIVE_INFINITY;
    return confirmed ? dueMs : dueMs + this.#lagMs + MARK_GRACE_MS;
  }

  /**
   * Takes everything unheard back from the carrier; without a buffer there is nothing to take back. What was heard by
   * the clock counts as heard, whatever became of its mark.
   */
  #takeBack(): void {
    const { buffered, clock, send } = this.#options;
    const heard = buffered ? Math.floor(this.#heardNow()) : this.#sent;
    const atCarrier = this.#sent > heard;
    this.#heard = heard;
    this.#sent = heard;
    this.#sentUntilMs = clock.nowMs();
    for (const placed of this.#line) {
      if (placed.from < heard && heard < placed.to) this.#sent -= (heard - placed.from) % this.#messageFrames;
      placed.mark = null;
      placed.confirmed = placed.to <= heard;
      placed.dueMs = placed.confirmed ? this.#sentUntilMs : null;
    }
    // Last, for the marks that it brings back must find nobody waiting.
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
