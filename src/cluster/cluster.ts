/** One of several gateways, as its other parts see it: who else is there, whose a call is, who does what alone. */

import type { Lead } from '../foundation/leadership.ts';

/** Silent for so long, a gateway is dead. */
export const DEAD_AFTER_MS = 10_000;

/** A gateway that lives, as the database knows it. Times are by the database's clock, in ms since 1970. */
export interface ClusterMember {
  /** Made anew at each start; the column `gateway` of its calls. */
  readonly id: string;
  /** The name of its machine. */
  readonly name: string;
  /** GATEWAY_URL. */
  readonly address: string;
  readonly state: 'serving' | 'draining';
  /** Calls that take up a place there. */
  readonly live: number;
  readonly maxCalls: number;
  /** What finals, speech and detection would take of its engines: 1 = all of them. */
  readonly firmLoad: number;
  readonly startedMs: number;
  readonly seenMs: number;
}

/** This gateway among the others of its database. */
export interface Cluster {
  /** Of this gateway. */
  readonly id: string;
  /** Those that live, this one first, as of the last heartbeat. */
  members(): readonly ClusterMember[];
  /**
   * The gateway that holds a call that is not over; null = there is none of that id, or its gateway died.
   * @throws the error of the database
   */
  ownerOf(callId: string): Promise<ClusterMember | null>;
  /** The others have ended this gateway's calls: it must publish nothing any more. */
  readonly isDeclaredDead: boolean;
  /** Calls `listener` once, when that happens or at once when it has. It must not throw. */
  watchDeath(listener: () => void): void;
  /** {@link Lead}. While the database is away the leader stays: nobody can take its place. */
  readonly lead: Lead;
  /** No new calls come here any more; the others know after this. Never rejects. */
  setState(state: 'draining'): Promise<void>;
  /** Leaves. To be called when the records have the end of the last call. Never rejects. */
  close(): Promise<void>;
}
