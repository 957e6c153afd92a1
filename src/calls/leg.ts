/** A call's leg: the carrier's side of it. Whoever opens a carrier's socket makes one; calls know no socket. */
import type { ErrorCode, TrunklineError } from '../foundation/errors.ts';
import type { CarrierCommand, CarrierEvent } from '../protocols/dialect.ts';

/**
 * How a leg ended. `lost`: the connection broke without a close. `error` is for the log. `busy`, `unanswered` and
 * `refused`: a call that we made did not begin, and this is what became of it.
 */
export interface LegEnd {
  readonly reason: 'closed' | 'lost' | 'timeout' | 'error' | 'busy' | 'unanswered' | 'refused';
  readonly code: ErrorCode | null;
  readonly error: Error | null;
}

/** Whom a leg tells. */
export interface LegHandlers {
  /** One event per message. What it throws closes the leg with `internal`. */
  onEvent(event: CarrierEvent): void;
  /** Exactly once, when the socket is gone; nothing comes after it. Must not throw. */
  onClosed(end: LegEnd): void;
}

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
}

/** Opens a leg on a socket that is there, and tells `handlers` of it. */
export type ConnectLeg = (handlers: LegHandlers) => CallLeg;
