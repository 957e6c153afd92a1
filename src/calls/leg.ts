/** A call's leg: the carrier's side of it. Whoever opens a carrier's socket makes one; calls know no socket. */
import type { ErrorCode, TrunklineError } from '../foundation/errors.ts';
import type { CarrierCommand, CarrierEvent } from '../protocols/dialect.ts';

/** What a SIP peer answered to our INVITE last: a status, and its words for it, at most 128 characters. */
export interface SipAnswer {
  readonly status: number;
  readonly reason: string;
}

/**
 * How a leg ended. `lost`: the connection broke without a close. `error` is for the log. `busy`, `unanswered` and
 * `refused`: a call that we made did not begin, and this is what became of it.
 */
export interface LegEnd {
  readonly reason: 'closed' | 'lost' | 'timeout' | 'error' | 'busy' | 'unanswered' | 'refused';
  readonly code: ErrorCode | null;
  readonly error: Error | null;
  /** Of a call that we made over SIP and that did not begin; left out = nothing was answered, or it was another. */
  readonly sip?: SipAnswer;
}

/** Whom a leg tells. */
export interface LegHandlers {
  /** One event per message. What it throws closes the leg with `internal`. */
  onEvent(event: CarrierEvent): void;
  /** Exactly once, when the socket is gone; nothing comes after it. Must not throw. */
  onClosed(end: LegEnd): void;
}

/** Who is to have the call in our place. */
export interface TransferRequest {
  /** A number or a name at the carrier; of SIP an address, too; of Asterisk `context/extension[/priority]`, too. */
  readonly to: string;
  /** The caller number that the other side sees; null = as the carrier has it. */
  readonly from: string | null;
  /** How long it may ring. */
  readonly timeoutMs: number;
  /** For whoever takes the call over, where the carrier can hand it on; null = nothing. */
  readonly handoffData: string | null;
  /**
   * Names the place that the flow keeps: where the transfer comes to nothing after the leg is closed, the carrier may
   * begin a new one with the parameters `resume`, which is this, and `transferResult`. Absent = nothing is kept.
   */
  readonly resume?: string;
}

/**
 * What became of a transfer. `transferred`: somebody else has the call, as far as the carrier tells, and it is to be
 * ended here. `unsupported`: this carrier cannot, or not there.
 */
export type TransferOutcome = 'transferred' | 'busy' | 'unanswered' | 'refused' | 'unsupported';

/** What a call needs of its leg. */
export interface CallLeg {
  /** Sends a command. Throws what the dialect throws. Ignored once the leg closes. */
  send(command: CarrierCommand): void;
  /** Closes from our side, with a close code of RFC 6455. */
  close(code: number, reason: string): void;
  /** Closes because of `error`, with its close code and message. */
  fail(error: TrunklineError): void;
  /** Stops reading, so that the carrier waits. The time limit on silence waits meanwhile. */
  pause(): void;
  /** Reads again. */
  resume(): void;
  /** Presses a key in the carrier's own way. Its tone is sent as well, beginning now; the leg leaves it out then. */
  press?(digit: string): void;
  /**
   * Gives the call to somebody else. Absent = the carrier cannot. Never rejects; a leg that the carrier closes because
   * of it tells its end only after this is resolved, in a later turn of the event loop.
   */
  transfer?(request: TransferRequest): Promise<TransferOutcome>;
}

/** Opens a leg on a socket that is there, and tells `handlers` of it. */
export type ConnectLeg = (handlers: LegHandlers) => CallLeg;
