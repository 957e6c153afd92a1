/** A call as the API shows it, live or stored. */
import type { Track } from '../protocols/dialect.ts';
import type { CallNames } from './call-names.ts';
import type { CallPhase } from './call-phase.ts';
import type { EndReason } from './feed/events.ts';
import type { SipAnswer } from './leg.ts';

/** How much there is of a call. */
export interface CallCounts {
  readonly finals: number;
  readonly spoken: number;
  readonly keys: number;
  readonly gaps: number;
}

/** Times are ISO 8601. */
export interface CallView {
  readonly id: string;
  readonly carrier: string;
  /** Caller and callee; null = not told. */
  readonly from: string | null;
  readonly to: string | null;
  readonly names: CallNames;
  /** The parameters `agent` and `queue`; null = not given. */
  readonly agent: string | null;
  readonly queue: string | null;
  /** The address of the app without its query; null = the call has none. */
  readonly app: string | null;
  /** The flow that it began with, and the version of it; null = it went through none. */
  readonly flow: string | null;
  readonly flowVersion: string | null;
  /** Somebody took over: what the app says is passed over. */
  readonly appMuted: boolean;
  /** The connection to the app broke and is being opened again. */
  readonly appLost: boolean;
  /** `dialing`: we make the call, and it has not been answered yet. */
  readonly state: 'dialing' | 'live' | 'ended';
  /** Null when it has ended. */
  readonly phase: CallPhase | null;
  /** When it began; of a call that we make and that is not answered, when it was dialled. */
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Why it ended; null before. */
  readonly endReason: EndReason | null;
  readonly tracks: readonly Track[];
  /** `lagMs` of its last caption; null before the first. */
  readonly lagMs: number | null;
  /** The worst `lagMs` of its final captions; null before the first. */
  readonly worstLagMs: number | null;
  /** How long it has lasted by its sound. */
  readonly durationMs: number;
  readonly counts: CallCounts;
  /** What the app gave to whoever takes over the call; null = nothing. */
  readonly handoffData: string | null;
  /** What the SIP trunk answered last, where a call that we made did not begin; null = nothing, or it is another. */
  readonly sip: SipAnswer | null;
  /** What came of it, as people noted it; null = nothing was noted. */
  readonly outcome: string | null;
  readonly tags: readonly string[];
  /** Its sound is being recorded, is paused, or was recorded; null = no. */
  readonly sound: 'recording' | 'paused' | 'recorded' | null;
}
