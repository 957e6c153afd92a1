/**
 * The legs of one telephone call, one after the other. Where the call is transferred to somebody else, it goes on with
 * the next leg: it stays the same call, and its sound goes on where that of the leg before ended.
 */
import type { CallLeg, LegEnd, LegHandlers, TransferOutcome, TransferRequest } from '../../calls/leg.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { bytesToMs, type Codec, FRAME_MS } from '../../foundation/units.ts';
import type { CallStart, CallTransfer, CarrierCommand, CarrierEvent } from '../../protocols/dialect.ts';
import type { SipLeg } from './leg.ts';

/** A leg whose sound begins later than this after that of the one before leaves a gap. */
const BREAK_MS = 200;
/** How often one call may be given on: phones that send calls to each other would never end. */
const TRANSFERS_MAX = 32;

/**
 * How a call goes on with another leg: a peer asked us to call (REFER), or called us (Replaces). Who is replaced was
 * spoken with before.
 */
export type TransferWay = Pick<CallTransfer, 'by' | 'kind'>;

type AudioEvent = Extract<CarrierEvent, { readonly type: 'audio' }>;

/** A place for one leg. */
class Seat implements LegHandlers {
  readonly #owner: LegSwitch;
  /** How the call comes to this leg; null = it is the first. */
  readonly by: TransferWay | null;
  /** Who is at its other end; null = not told. */
  party: string | null = null;
  leg: SipLeg | null = null;
  /** What its sound is moved by, so that it goes on where the one before ended; null = none has come. */
  offset: { readonly sequence: number; readonly ms: number } | null = null;

  constructor(owner: LegSwitch, by: TransferWay | null) {
    this.#owner = owner;
    this.by = by;
  }

  onEvent(event: CarrierEvent): void {
    this.#owner.receive(this, event);
  }

  onClosed(end: LegEnd): void {
    this.#owner.closed(this, end);
  }
}

export class LegSwitch implements CallLeg {
  readonly #handlers: LegHandlers;
  readonly #clock: Pick<Clock, 'nowMs'>;
  #current: Seat;
  /** A leg that may take over. */
  #next: Seat | null = null;
  /** The current leg has ended while somebody else is being called. */
  #ended: { readonly end: LegEnd; readonly isHangUp: boolean } | null = null;
  #isHangUp = false;
  /** Nothing may follow. */
  #over = false;
  #transfers = 0;
  #codec: Codec | null = null;
  #isHeld = false;
  #lastSequence = 0;
  /** Where the sound so far ends, and when its last packet came. */
  #endMs = 0;
  #lastArrivalMs: number | null = null;

  private constructor(handlers: LegHandlers, clock: Pick<Clock, 'nowMs'>) {
    this.#handlers = handlers;
    this.#clock = clock;
    this.#current = new Seat(this, null);
  }

  /** The switch of a new call, with its first leg. */
  static open(
    handlers: LegHandlers,
    clock: Pick<Clock, 'nowMs'>,
    connect: (handlers: LegHandlers) => SipLeg,
  ): LegSwitch {
    const legs = new LegSwitch(handlers, clock);
    legs.#current.leg = connect(legs.#current);
    return legs;
  }

  /** Of the call; null = it has not begun. */
  get codec(): Codec | null {
    return this.#codec;
  }

  /** Whether the call has begun and goes on, with this leg. */
  isLive(leg: SipLeg | null): boolean {
    return !this.#over && this.#codec !== null && this.#current.leg === leg;
  }

  /**
   * Somebody is to have the call: their leg takes over when it begins, and the one before is closed. If it ends before
   * that, the call goes on as it was, or ends where the leg before has ended meanwhile. One that waited is closed.
   * @throws TrunklineError `invalid_request` when the call is over, or was given on too often
   */
  follow(by: TransferWay, connect: (handlers: LegHandlers) => SipLeg): void {
    if (this.#over || this.#codec === null) throw new TrunklineError('invalid_request', 'the call is over');
    if (++this.#transfers > TRANSFERS_MAX)
      throw new TrunklineError('invalid_request', `the call was given on ${TRANSFERS_MAX} times, expected no more`);
    const before = this.#next;
    const seat = new Seat(this, by);
    this.#next = seat;
    seat.leg = connect(seat);
    before?.leg?.close();
  }

  send(command: CarrierCommand): void {
    this.#current.leg?.send(command);
  }

  press(digit: string): void {
    this.#current.leg?.press(digit);
  }

  async transfer(request: TransferRequest): Promise<TransferOutcome> {
    return (await this.#current.leg?.transfer(request)) ?? 'unsupported';
  }

  close(): void {
    this.#over = true;
    this.#next?.leg?.close();
    this.#current.leg?.close();
  }

  fail(error: TrunklineError): void {
    this.#over = true;
    this.#next?.leg?.close();
    this.#current.leg?.fail(error);
  }

  pause(): void {}

  resume(): void {}

  /** For its seats: an event of one of them. */
  receive(seat: Seat, event: CarrierEvent): void {
    if (seat === this.#next && event.type === 'start') this.#takeOver(seat, event.start);
    if (seat !== this.#current) return;
    if (event.type === 'start') {
      if (seat.by !== null) return;
      seat.party = partyOf(event.start);
      this.#codec = event.start.codec;
    }
    if (event.type === 'state') this.#isHeld = event.state === 'held';
    if (event.type === 'stop') this.#isHangUp = true;
    if (event.type === 'stop' && this.#next !== null) return;
    if (event.type === 'audio') this.#pass(seat, event);
    else this.#handlers.onEvent(event);
  }

  /** For its seats: one of them is closed. */
  closed(seat: Seat, end: LegEnd): void {
    if (seat === this.#next) {
      this.#next = null;
      if (this.#ended !== null) this.#finish(this.#ended);
    } else if (seat === this.#current) {
      const ended = { end, isHangUp: this.#isHangUp };
      if (this.#next === null || this.#over) this.#finish(ended);
      else this.#wait(ended);
    }
  }

  /** Whoever asked us to call somebody else has left; nobody is there until that one answers. */
  #wait(ended: { readonly end: LegEnd; readonly isHangUp: boolean }): void {
    this.#ended = ended;
    this.#tellHeld(true);
  }

  #finish({ end, isHangUp }: { readonly end: LegEnd; readonly isHangUp: boolean }): void {
    // The call was told already, unless there was somebody to wait for.
    if (this.#ended !== null && isHangUp && !this.#over) this.#handlers.onEvent({ type: 'stop' });
    this.#over = true;
    this.#handlers.onClosed(end);
  }

  #takeOver(seat: Seat, start: CallStart): void {
    const before = this.#current;
    seat.party = partyOf(start);
    this.#current = seat;
    this.#next = null;
    this.#ended = null;
    this.#isHangUp = false;
    before.leg?.close();
    const { by, kind } = seat.by ?? { by: 'refer', kind: 'blind' };
    this.#handlers.onEvent({ type: 'transferred', by, from: before.party, to: seat.party, kind });
    this.#tellHeld(false);
  }

  #tellHeld(isHeld: boolean): void {
    if (this.#isHeld === isHeld) return;
    this.#isHeld = isHeld;
    this.#handlers.onEvent({ type: 'state', state: isHeld ? 'held' : 'live' });
  }

  #pass(seat: Seat, event: AudioEvent): void {
    const nowMs = this.#clock.nowMs();
    const sentMs = event.atMs ?? 0;
    const isFirst = seat.offset === null;
    seat.offset ??= this.#offset(seat, event.sequence, sentMs, nowMs);
    const sequence = event.sequence + seat.offset.sequence;
    // What was overtaken by the first packet of its leg would be in the place of the leg before.
    if (seat.by !== null && !isFirst && sequence <= this.#firstSequence) return;
    if (isFirst) this.#firstSequence = sequence;
    const atMs = sentMs + seat.offset.ms;
    this.#lastArrivalMs = nowMs;
    this.#lastSequence = Math.max(this.#lastSequence, sequence);
    if (this.#codec !== null) this.#endMs = Math.max(this.#endMs, atMs + bytesToMs(event.bytes.length, this.#codec));
    this.#handlers.onEvent({ ...event, sequence, atMs });
  }

  /** Of the first packet of the current leg. */
  #firstSequence = 0;

  #offset(seat: Seat, sequence: number, sentMs: number, nowMs: number): { sequence: number; ms: number } {
    if (seat.by === null) return { sequence: 0, ms: 0 };
    const brokenMs = this.#lastArrivalMs === null ? 0 : nowMs - this.#lastArrivalMs;
    const atMs = this.#endMs + (brokenMs > BREAK_MS ? brokenMs - FRAME_MS : 0);
    return { sequence: this.#lastSequence + 1 - sequence, ms: atMs - sentMs };
  }
}

function partyOf({ from, to, outgoing }: CallStart): string | null {
  return outgoing ? to : from;
}
