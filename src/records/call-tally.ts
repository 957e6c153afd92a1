/** What the events of one call add up to: its row, and the numbers of its texts. */
import type { Insertable } from 'kysely';
import { type CallParameters, readCallParameters } from '../calls/call-parameters.ts';
import type { CallView } from '../calls/call-view.ts';
import type { CallEndedEvent, CallStartedEvent, FeedEvent } from '../calls/feed/events.ts';
import type { CallsTable, TextsTable } from './tables.ts';

const DAY_MS = 86_400_000;

/** Texts of one call that can have a number: {@link TextsTable.id}. */
const TEXTS_MAX = 2 ** 20;

/** What only the call itself knows of its beginning. */
export interface CallIdentity extends Pick<CallView, 'carrier' | 'from' | 'to' | 'names' | 'agent' | 'queue' | 'app'> {
  readonly startedAt: string;
  readonly tracks: CallView['tracks'];
  readonly own: CallParameters | null;
  /** All parameters of the call, as they were given. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** One text of a call; `number` counts them. */
export type NumberedText = Omit<Insertable<TextsTable>, 'id' | 'call_seq'> & { readonly number: number };

/** Mutable inside its class alone. */
type Row = { -readonly [K in keyof CallsTable]: K extends 'seq' ? number | undefined : CallsTable[K] };

/** Names a text within its call. */
export function textKey({ kind, track, utterance }: Pick<TextsTable, 'kind' | 'track' | 'utterance'>): string {
  return `${kind} ${track} ${utterance}`;
}

/** A call that this gateway holds, or that it ends in place of a dead one. */
export class CallTally {
  /** Where its row is; null = it has not been stored yet. */
  seq: number | null = null;
  /** Somebody deleted it where this gateway could not see that: nothing more is stored of it. */
  isDeleted = false;
  readonly #row: Omit<Row, 'seq'>;
  readonly #retainDays: number | null;
  readonly #numbers: Map<string, number>;
  /** When the gateway that held it was last known to live; null = this one does. */
  readonly #lostAtMs: number | null;

  private constructor(
    row: Omit<Row, 'seq'>,
    retainDays: number | null,
    lostAtMs: number | null,
    numbers: ReadonlyMap<string, number> = new Map(),
  ) {
    this.#row = row;
    this.#numbers = new Map(numbers);
    this.#retainDays = retainDays;
    this.#lostAtMs = lostAtMs;
  }

  /** A call of the gateway whose feed has the epoch `gateway`. */
  static begin(id: string, gateway: string, identity: CallIdentity): CallTally {
    const { carrier, from, to, names, agent, queue, app, startedAt, tracks, parameters, own } = identity;
    const row = {
      id,
      carrier,
      from_party: from,
      to_party: to,
      inbound_name: names.inbound,
      outbound_name: names.outbound,
      agent,
      queue,
      app,
      flow: null,
      flow_version: null,
      state: 'dialing' as const,
      gateway,
      started_ms: Date.parse(startedAt),
      ended_ms: null,
      end_reason: null,
      duration_ms: 0,
      outcome: null,
      handoff_data: null,
      parameters: JSON.stringify(parameters),
      tracks: JSON.stringify(tracks),
      finals: 0,
      spoken: 0,
      keys: 0,
      gaps: 0,
      worst_lag_ms: null,
      keep_until_ms: null,
      sound_bytes: null,
      message_bytes: null,
      length_ms: null,
      sip_status: null,
      sip_reason: null,
    };
    return new CallTally(row, own?.retainDays ?? null, null);
  }

  /**
   * The stored call of a gateway that died; it was alive at `lostAtMs`. `numbers` = those of its texts that are stored,
   * by {@link textKey}.
   */
  static adopt(
    { seq, ...row }: Readonly<Omit<Row, 'seq'> & { seq: number }>,
    lostAtMs: number,
    numbers: ReadonlyMap<string, number>,
  ): CallTally {
    const parameters = JSON.parse(row.parameters) as Record<string, string>;
    const tally = new CallTally({ ...row }, readCallParameters({ parameters }).retainDays, lostAtMs, numbers);
    tally.seq = seq;
    return tally;
  }

  get id(): string {
    return this.#row.id;
  }

  get isOver(): boolean {
    return this.#row.state === 'ended';
  }

  /** Its row as it is now. A stored one names its number: PostgreSQL would use up another with each change. */
  row(): Insertable<CallsTable> {
    return this.seq === null ? { ...this.#row } : { ...this.#row, seq: this.seq };
  }

  /** Adds an event that was published at `atMs`. Returns the text to be found by, if it has one. */
  add(event: FeedEvent, atMs: number): NumberedText | null {
    const row = this.#row;
    if ('endMs' in event) row.duration_ms = Math.max(row.duration_ms, event.endMs);
    else if ('atMs' in event) row.duration_ms = Math.max(row.duration_ms, event.atMs);
    switch (event.type) {
      case 'call.started':
        this.#start(event);
        return null;
      case 'caption':
        row.finals++;
        row.worst_lag_ms = Math.max(row.worst_lag_ms ?? 0, Math.round(event.lagMs));
        return event.text === '' ? null : this.#text('caption', event.track, String(event.utterance), event);
      case 'revision':
        return this.#text('caption', event.track, String(event.utterance), event);
      case 'spoken':
        row.spoken++;
        return event.heardText === ''
          ? null
          : this.#text('spoken', 'outbound', event.utterance, { ...event, text: event.heardText });
      case 'dtmf':
        row.keys++;
        return null;
      case 'gap':
        row.gaps++;
        return null;
      case 'call.assigned':
        row.agent = event.agent;
        row.queue = event.queue;
        row.outbound_name = event.names.outbound;
        return null;
      case 'flow.started':
        row.flow ??= event.flow;
        row.flow_version ??= event.version;
        return null;
      case 'call.ended':
        this.#end(event, atMs);
        return null;
      default:
        return null;
    }
  }

  #start({ from, to, names, agent, queue, app, startedAt, tracks }: CallStartedEvent): void {
    const row = this.#row;
    row.state = 'live';
    row.started_ms = Date.parse(startedAt);
    row.from_party = from;
    row.to_party = to;
    row.inbound_name = names.inbound;
    row.outbound_name = names.outbound;
    row.agent = agent;
    row.queue = queue;
    row.app = app;
    row.tracks = JSON.stringify(tracks);
  }

  #end({ reason, durationMs, handoffData, sip }: CallEndedEvent, atMs: number): void {
    const row = this.#row;
    const endedMs = Math.max(this.#lostAtMs ?? atMs, row.started_ms);
    row.state = 'ended';
    row.ended_ms = endedMs;
    row.end_reason = reason;
    row.duration_ms = durationMs;
    row.length_ms = durationMs;
    row.handoff_data = handoffData;
    row.sip_status = sip?.status ?? null;
    row.sip_reason = sip?.reason ?? null;
    row.keep_until_ms = this.#retainDays === null ? null : endedMs + this.#retainDays * DAY_MS;
  }

  /** The same utterance always has the same number, so that a repeated or revised text replaces itself. */
  #text(
    kind: TextsTable['kind'],
    track: TextsTable['track'],
    utterance: string,
    { text, startMs, endMs, version = 1 }: { text: string; startMs: number; endMs: number; version?: number },
  ): NumberedText | null {
    const key = textKey({ kind, track, utterance });
    const number = this.#numbers.get(key) ?? this.#numbers.size + 1;
    if (number >= TEXTS_MAX) return null;
    this.#numbers.set(key, number);
    const start_ms = Math.round(startMs);
    return { number, kind, track, utterance, version, text, start_ms, end_ms: Math.round(endMs) };
  }
}
