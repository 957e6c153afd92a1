/** The options of a simulated call and its outcome, for every carrier. */

import type { RtpCodecName } from '../../carriers/sip/wire/rtp-codecs.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { KeyPress } from '../arguments.ts';

/** The options of a call, checked. A carrier never gets one that it does not use. */
export interface CallOptions {
  /** What the caller says; `both` = what is said to the caller. Paths of WAV files. */
  readonly wav: string;
  readonly both?: string;
  /** Asterisk's control messages as releases before 20.18 and 22.8 have them. */
  readonly plainText?: boolean;
  /** Of SIP; by default mulaw. */
  readonly codec?: RtpCodecName;
  /** Of SIP: its sound is secured; by default over TLS, and as SIP_SRTP has it. */
  readonly srtp?: boolean;
  /** The server's media endpoint; by default that of the carrier on this machine. */
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
  /** Whether the caller ended it, as planned. */
  readonly asPlanned: boolean;
  /** What a carrier would only log. */
  readonly warnings: readonly string[];
  /** The full report of the simulator, for programs. */
  readonly report: object;
}

/** A call that is ready to begin. */
export interface PlacedCall {
  /** Its id at the server. */
  readonly id: string;
  /** How long it lasts if nobody ends it early. */
  readonly durationMs: number;
  /** Time of the call so far. */
  readonly sentMs: () => number;
  /** Speaks until the call is over. @throws Error when the server does not take it. */
  readonly run: () => Promise<CallOutcome>;
  readonly hangup: () => void;
}

/** Makes the call of one carrier ready. @throws Error for a file that cannot be read, or a server that refuses. */
export type PlaceCall = (options: CallOptions, settings: Settings) => Promise<PlacedCall>;
