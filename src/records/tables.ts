/**
 * The tables of the records, the same in SQLite and in PostgreSQL: numbers are whole (booleans 0 or 1), times are ms
 * since 1970 unless a name says otherwise, and JSON is text.
 */
import type { Generated } from 'kysely';

/** One row for each call: who, when, how it ended, and counts. */
export interface CallsTable {
  /** Counts calls in the order in which they began. */
  readonly seq: Generated<number>;
  /** The call's id in the API. */
  readonly id: string;
  readonly carrier: string;
  readonly from_party: string | null;
  readonly to_party: string | null;
  /** Who speaks on the tracks, where names were given. */
  readonly inbound_name: string | null;
  readonly outbound_name: string | null;
  /** The parameter `agent`: whose call it is. */
  readonly agent: string | null;
  readonly queue: string | null;
  /** The app's address without its query; null = no app. */
  readonly app: string | null;
  /** The flow that it began with, and the version of it; null = none. */
  readonly flow: string | null;
  readonly flow_version: string | null;
  readonly state: 'dialing' | 'live' | 'ended';
  /** The feed epoch of the gateway that holds the call. Where none shares the database, another one is dead. */
  readonly gateway: string;
  readonly started_ms: number;
  readonly ended_ms: number | null;
  readonly end_reason: string | null;
  /** By its sound. */
  readonly duration_ms: number;
  readonly outcome: string | null;
  readonly handoff_data: string | null;
  /** JSON object of the call's parameters. */
  readonly parameters: string;
  /** JSON array of its tracks. */
  readonly tracks: string;
  readonly finals: number;
  readonly spoken: number;
  readonly keys: number;
  readonly gaps: number;
  readonly worst_lag_ms: number | null;
  /** When it is deleted; null = as RETENTION_DAYS says. */
  readonly keep_until_ms: number | null;
  /** Bytes of its sound on disk; null = none was recorded. */
  readonly sound_bytes: number | null;
  /** Bytes of the messages that its caller left; null = none. */
  readonly message_bytes: number | null;
  /** As `duration_ms` once the call has ended; null = it goes on. */
  readonly length_ms: number | null;
  /** What a SIP trunk answered last to a call of ours that did not begin; null = nothing, or it is another call. */
  readonly sip_status: number | null;
  readonly sip_reason: string | null;
}

/** The feed's events of each call, but for partial captions and `speech.*`. */
export interface EventsTable {
  /** Counts the events in the order of their publication. */
  readonly position: Generated<number>;
  /** The feed's id is `<epoch>-<number>`. */
  readonly epoch: string;
  readonly number: number;
  readonly call_seq: number;
  readonly type: string;
  readonly at_ms: number;
  /** The event as JSON, redacted. */
  readonly content: string;
}

/** What was said, one row for each utterance with its latest text: what is searched. */
export interface TextsTable {
  /** `call_seq * 2^20 + n`, n from 1 in each call: in the order of the calls. */
  readonly id: number;
  readonly call_seq: number;
  readonly kind: 'caption' | 'spoken';
  readonly track: 'inbound' | 'outbound';
  /** The utterance's number on its track, or the name of what was spoken. */
  readonly utterance: string;
  readonly version: number;
  readonly text: string;
  /** As the search compares it, where that is not what the database makes of `text`; null = it is. */
  readonly search_words: string | null;
  readonly start_ms: number;
  readonly end_ms: number;
}

/** The tags of calls. */
export interface CallTagsTable {
  readonly call_seq: number;
  readonly tag: string;
  /** Of the call. */
  readonly started_ms: number;
}

/** What was counted of flows in the calls that began on one day (src/records/flows/flow-days.ts). */
export interface FlowDaysTable {
  /** When the day begins in UTC. */
  readonly day_ms: number;
  /** What was counted; '' = the row only tells changes. */
  readonly scope: string;
  /** Of the row '': counts what changed the day since that row was made. */
  readonly changes: number;
  /** JSON. */
  readonly content: string;
}

/** Webhooks that wait to be delivered, or that were given up. */
export interface OutboxTable {
  /** `webhook-id`, the same for every attempt. */
  readonly id: string;
  readonly call_seq: number | null;
  readonly event: string;
  readonly body: string;
  readonly created_ms: number;
  readonly due_ms: number;
  readonly attempts: number;
  readonly state: 'waiting' | 'failed';
  /** JSON of where a flow sends it (webhook-target.ts); null = to CALL_WEBHOOK_URL. */
  readonly target: string | null;
}

/** Who read, exported, changed or deleted what. */
export interface AuditTable {
  readonly position: Generated<number>;
  readonly at_ms: number;
  readonly who: string;
  readonly role: string;
  /** `call.read`, `call.deleted`, `calls.searched`, `calls.exported`, `sound.played` … */
  readonly action: string;
  readonly call_id: string | null;
  /** JSON object without anything that was said. */
  readonly detail: string;
}

/** People and keys with a role. */
export interface UsersTable {
  readonly name: string;
  readonly kind: 'person' | 'key';
  readonly role: 'admin' | 'supervisor' | 'agent' | 'app';
  /** The value of `agent` of the calls that an agent may see. */
  readonly agent: string | null;
  /** scrypt of a password, or SHA-256 of a key. */
  readonly secret: string;
  readonly created_ms: number;
}

/** Browsers that are signed in. */
export interface SessionsTable {
  /** Keyed hash of the session's id. */
  readonly hash: string;
  /** JSON of its principal. */
  readonly principal: string;
  readonly expires_ms: number;
}

/** Single values, such as the key of the sessions' hashes. */
export interface MetaTable {
  readonly name: string;
  readonly value: string;
}

/** Gateways that share a PostgreSQL database. Times are by the database's clock. */
export interface GatewaysTable {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly state: 'starting' | 'serving' | 'draining' | 'ended';
  readonly live: number;
  readonly max_calls: number;
  readonly firm_load: number;
  readonly started_ms: number;
  readonly seen_ms: number;
  /** Counts how often it began or came back. */
  readonly term: number;
}

/** What the lists of other gateways show of live calls. */
export interface LiveCallsTable {
  readonly call_id: string;
  readonly gateway: string;
  /** JSON. */
  readonly content: string;
  readonly at_ms: number;
}

/** All tables, as Kysely wants them. */
export interface Tables {
  readonly calls: CallsTable;
  readonly events: EventsTable;
  readonly texts: TextsTable;
  readonly call_tags: CallTagsTable;
  readonly flow_days: FlowDaysTable;
  readonly outbox: OutboxTable;
  readonly audit: AuditTable;
  readonly users: UsersTable;
  readonly sessions: SessionsTable;
  readonly meta: MetaTable;
  /** In PostgreSQL alone. */
  readonly gateways: GatewaysTable;
  /** In PostgreSQL alone. */
  readonly live_calls: LiveCallsTable;
}
