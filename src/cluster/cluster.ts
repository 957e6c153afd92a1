/** One of several gateways, as its other parts see it: who else is there, whose a call is, who does what alone. */

import type { Lead } from '../foundation/leadership.ts';

/** Silent for so long, a gateway is dead if it does not answer the others either. */
export const DEAD_AFTER_MS = 10_000;

/** A gateway that lives, as the database knows it. Times are by the database's clock, in ms since 1970. */
export interface ClusterMember {
  /** Made anew at each start; the column `gateway` of its calls. */
  readonly id: string;
  /** The name of its machine. */
  readonly name: string;
  /** GATEWAY_URL. */
  readonly address: string;
  /** `starting`: it does not listen yet. */
  readonly state: 'starting' | 'serving' | 'draining';
  /** Calls that take up a place there. */
  readonly live: number;
  readonly maxCalls: number;
  /** What finals, speech and detection would take of its engines: 1 = all of them. */
  readonly firmLoad: number;
  readonly startedMs: number;
  /** When it last said that it lives, or another one reached it. */
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
  /** {@link Lead}. While the database is away the leader stays: nobody can take its place. */
  readonly lead: Lead;
  /** It listens, or takes no new calls any more; the others know after this. Never rejects. */
  setState(state: 'serving' | 'draining'): Promise<void>;
  /** Leaves. To be called when the records have the end of the last call. Never rejects. */
  close(): Promise<void>;
}

/** How a gateway is back that was taken for dead. */
export interface Return {
  /** Names it to `feed_append`. */
  readonly term: number;
  /** The last number that the feed had given then: what gets a higher one was kept back. */
  readonly feedNumber: number;
  /** Of the calls that it holds: those that are stored, and those whose end others have told. */
  readonly stored: ReadonlySet<string>;
  readonly ended: readonly string[];
}

/** What a gateway does that was taken for dead and is back. Must not throw. */
export interface Returner {
  /** The calls that are its own, also those that ended meanwhile. */
  held(): readonly string[];
  /** It is registered again, and its calls are its own. */
  resume(back: Return): void;
}
