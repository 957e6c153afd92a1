/** The leg of a SIP call: between the call and its RTP. The signalling is its owner's. */
import type { CallLeg, LegEnd, LegHandlers, TransferOutcome, TransferRequest } from '../../calls/leg.ts';
import { asTrunklineError, TrunklineError } from '../../foundation/errors.ts';
import type { CallStart, CarrierCommand, CarrierEvent, Track } from '../../protocols/dialect.ts';
import type { MediaSession } from './media.ts';
import type { AudioChunk } from './rtp/receiver.ts';
import type { SessionListener } from './rtp/session.ts';

/** Takes what the peer tells in a dialog: the leg of the call, or, until the call has begun, the call itself. */
export interface DialogListener {
  /** A key was pressed. */
  receiveDigit(digit: string): void;
  /** The peer has put us on hold, or has taken us back. */
  hold(isHeld: boolean): void;
  /** The peer has ended the call. */
  leave(): void;
  /** The call is over, as `end` says. */
  end(end: LegEnd): void;
  /** The call cannot go on. */
  fail(error: TrunklineError): void;
}

/** The signalling of the call, whichever side began it. */
export interface LegOwner {
  /**
   * The call is over on our side: tell the peer, unless it was the peer who ended it, and release everything. Once;
   * must not throw.
   */
  release(error: TrunklineError | null): void;
  /** As a leg does it. */
  transfer(request: TransferRequest): Promise<TransferOutcome>;
}

interface SipLegOptions {
  readonly owner: LegOwner;
  readonly media: Pick<MediaSession, 'send' | 'press'>;
  readonly handlers: LegHandlers;
}

/** Audio and keys pass it between `begin` and the end. */
export class SipLeg implements CallLeg, SessionListener, DialogListener {
  readonly #options: SipLegOptions;
  #begun = false;
  #ended = false;
  #isHeld = false;
  /** Keys come as messages in this call, so that their tones are no keys of their own. */
  #hasKeyMessages = false;
  /** The key whose tone was heard last. */
  #lastTone: string | null = null;

  constructor(options: SipLegOptions) {
    this.#options = options;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The call has begun. Afterwards the leg may have ended, for the call may have been refused. */
  begin(start: CallStart): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#tell({ type: 'start', start });
  }

  receiveAudio(chunk: AudioChunk, track: Track = 'inbound'): void {
    if (this.#begun) this.#tell({ type: 'audio', track, ...chunk });
  }

  receiveDigit(digit: string, track: Track = 'inbound'): void {
    // A telephone that sends both has told its first key already: tones are known while they last.
    const isToldTone = !this.#hasKeyMessages && digit === this.#lastTone;
    this.#hasKeyMessages = true;
    if (this.#begun && !isToldTone) this.#tell({ type: 'dtmf', track, digit });
  }

  receiveTone(digit: string): void {
    if (!this.#begun || this.#hasKeyMessages) return;
    this.#lastTone = digit;
    this.#tell({ type: 'dtmf', track: 'inbound', digit });
  }

  /** The peer has put us on hold, or has taken us back. */
  hold(isHeld: boolean): void {
    if (this.#isHeld === isHeld || !this.#begun) return;
    this.#isHeld = isHeld;
    this.#tell({ type: 'state', state: isHeld ? 'held' : 'live' });
  }

  /** The peer has ended the call. */
  leave(): void {
    if (this.#begun) this.#tell({ type: 'stop' });
    this.end({ reason: 'closed', code: null, error: null });
  }

  /** The call is over, as `end` says; the peer is told by the owner. */
  end(end: LegEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.owner.release(end.error instanceof TrunklineError ? end.error : null);
    // Whoever ends the leg from within an event is not told in the middle of it.
    queueMicrotask(() => this.#options.handlers.onClosed(end));
  }

  send(command: CarrierCommand): void {
    // What is sent is played at once: there is nothing to be cleared and no mark to come back.
    if (!this.#ended && command.type === 'audio') this.#options.media.send(command.bytes);
  }

  press(digit: string): void {
    if (!this.#ended) this.#options.media.press(digit);
  }

  async transfer(request: TransferRequest): Promise<TransferOutcome> {
    return this.#ended ? 'unsupported' : await this.#options.owner.transfer(request);
  }

  close(): void {
    this.end({ reason: 'closed', code: null, error: null });
  }

  fail(error: TrunklineError): void {
    const isTimeout = error.code === 'media_timeout' || error.code === 'start_timeout';
    this.end({ reason: isTimeout ? 'timeout' : 'error', code: error.code, error });
  }

  /**
   * A telephone cannot be told to wait. What it says meanwhile is kept, until the call gives up with `audio_too_fast`.
   */
  pause(): void {}

  resume(): void {}

  #tell(event: CarrierEvent): void {
    if (this.#ended) return;
    try {
      this.#options.handlers.onEvent(event);
    } catch (cause) {
      const error = asTrunklineError(cause, 'the call could not go on');
      this.end({ reason: 'error', code: error.code, error: cause instanceof Error ? cause : error });
    }
  }
}
