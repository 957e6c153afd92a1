/**
 * The sound of one channel of Asterisk as the leg of one call: one WebSocket to it, or one for each direction, whose
 * streams become the tracks of the call. Who calls is known beforehand, from the channel itself.
 */
import type { CallLeg, LegEnd, LegHandlers, TransferOutcome, TransferRequest } from '../../../calls/leg.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import type { CallStart, CarrierCommand, CarrierEvent, Track } from '../../../protocols/dialect.ts';

type CarrierState = Extract<CarrierEvent, { type: 'state' }>['state'];

/** One WebSocket, and the track that what it brings belongs to. */
export interface Wire {
  readonly track: Track;
  connect(handlers: LegHandlers): CallLeg;
}

interface ChannelLegOptions {
  /** The first one takes what we say. */
  readonly wires: readonly Wire[];
  /** What the call is; codec and the rest come from the wires. */
  readonly identity: Pick<CallStart, 'callId' | 'streamId' | 'from' | 'to' | 'parameters' | 'details'>;
  readonly playback: CallStart['playback'];
  readonly handlers: LegHandlers;
  /** Gives the channel to somebody else, as a leg does it. */
  transfer(request: TransferRequest): Promise<TransferOutcome>;
}

/** Begins when all its wires have begun, and ends with the first of them that ends. */
export class ChannelLeg implements CallLeg {
  readonly #options: ChannelLegOptions;
  readonly #legs: readonly CallLeg[];
  readonly #starts: CallStart[] = [];
  #begun = false;
  #state: CarrierState = 'live';
  /** Whose call it is, told as soon as there is one. */
  #assigned: CarrierEvent | null = null;
  #closed = false;

  constructor(options: ChannelLegOptions) {
    this.#options = options;
    this.#legs = options.wires.map(({ track, connect }) =>
      connect({ onEvent: (event) => this.#onEvent(track, event), onClosed: (end) => this.#onClosed(end) }),
    );
  }

  send(command: CarrierCommand): void {
    this.#legs[0]?.send(command);
  }

  transfer(request: TransferRequest): Promise<TransferOutcome> {
    return this.#options.transfer(request);
  }

  close(code: number, reason: string): void {
    for (const leg of this.#legs) leg.close(code, reason);
  }

  fail(error: TrunklineError): void {
    for (const leg of this.#legs) leg.fail(error);
  }

  pause(): void {
    for (const leg of this.#legs) leg.pause();
  }

  resume(): void {
    for (const leg of this.#legs) leg.resume();
  }

  /** What the channel does, as far as Asterisk says: told when it changes, from the beginning of the call on. */
  tellState(state: CarrierState): void {
    if (this.#state === state) return;
    this.#state = state;
    if (this.#begun && !this.#closed) this.#options.handlers.onEvent({ type: 'state', state });
  }

  /** Who the channel is connected to. Before the call has begun only the latest of it is kept. */
  tellParty(event: CarrierEvent): void {
    if (event.type === 'assigned') this.#assigned = event;
    if (this.#begun && !this.#closed) this.#options.handlers.onEvent(event);
  }

  #onEvent(track: Track, event: CarrierEvent): void {
    if (this.#closed) return;
    if (event.type === 'start') this.#begin(event.start);
    else if (event.type === 'audio' || event.type === 'dtmf') this.#options.handlers.onEvent({ ...event, track });
    else this.#options.handlers.onEvent(event);
  }

  #begin(start: CallStart): void {
    const { wires, identity, playback, handlers } = this.#options;
    const [first = start] = this.#starts;
    if (first.codec.name !== start.codec.name || first.codec.rateHz !== start.codec.rateHz) {
      throw new TrunklineError(
        'codec_unsupported',
        `got ${start.codec.name} for one direction, expected ${first.codec.name} as for the other`,
      );
    }
    this.#starts.push(start);
    if (this.#starts.length < wires.length) return;
    handlers.onEvent({
      type: 'start',
      start: { ...start, ...identity, playback, tracks: wires.map(({ track }) => track) },
    });
    this.#begun = true;
    if (this.#state !== 'live') handlers.onEvent({ type: 'state', state: this.#state });
    if (this.#assigned !== null) handlers.onEvent(this.#assigned);
  }

  #onClosed(end: LegEnd): void {
    if (this.#closed) return;
    this.#closed = true;
    this.close(1000, 'the other direction ended');
    this.#options.handlers.onClosed(end);
  }
}
