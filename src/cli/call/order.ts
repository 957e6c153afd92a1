/** What a simulated call of `trunkline call` is ordered with, and what becomes of it, whichever carrier places it. */
import type { Settings } from '../../foundation/settings/settings.ts';
import type { KeyPress } from '../arguments.ts';

/** The options that say how the call goes, checked. A carrier that has no use for one of them never sees it. */
export interface CallOrder {
  /** What the caller says; `both` = what is said to the caller. Paths of WAV files. */
  readonly wav: string;
  readonly both?: string;
  /** Asterisk's control messages as releases before 20.18 and 22.8 have them. */
  readonly plainText?: boolean;
  /** The server's media door; by default the carrier's own on this machine. */
  readonly url?: string;
  /** A voice webhook to ask first, as Twilio does. */
  readonly voice?: string;
  readonly fast?: boolean;
  readonly jitterMs: number;
  readonly loss: number;
  readonly reorder: number;
  readonly seed: number;
  readonly dtmf?: readonly KeyPress[];
  readonly dropAfterMs?: number;
  readonly from: string;
  readonly to: string;
  readonly param: Readonly<Record<string, string>>;
}

/** How a call went. */
export interface CallOutcome {
  readonly sentMs: number;
  /** What came back from the server, and how the call ended, in words. */
  readonly received: string;
  readonly ended: string;
  /** Whether it ended when the caller meant it to. */
  readonly asOrdered: boolean;
  /** What the carrier would only have logged. */
  readonly warnings: readonly string[];
  /** All that the carrier's simulator says, for programs. */
  readonly report: object;
}

/** A call that is ready to begin. */
export interface PlacedCall {
  /** Its id at the server. */
  readonly id: string;
  /** How long it will last when nothing comes between. */
  readonly durationMs: number;
  /** Time of the call so far. */
  readonly sentMs: () => number;
  /** Speaks until the call is over. @throws Error when the server does not take it. */
  readonly run: () => Promise<CallOutcome>;
  readonly hangup: () => void;
}

/** Makes the call of one carrier ready. @throws Error for a file that cannot be read, or a server that refuses. */
export type PlaceCall = (order: CallOrder, settings: Settings) => Promise<PlacedCall>;
