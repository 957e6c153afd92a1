/** Rows of the records, for tests. */

import type { Kysely } from 'kysely';
import { searchWordsOf } from '../../src/records/search/search-words.ts';
import type { CallsTable, CallTagsTable, Tables, TextsTable } from '../../src/records/tables.ts';

/** An ended call of one minute that began `seq` minutes into 2026. */
export function callRow(
  seq: number,
  over: Partial<Omit<CallsTable, 'seq'>> = {},
): Omit<CallsTable, 'seq'> & { seq: number } {
  const startedMs = Date.UTC(2026, 0, 1) + seq * 60_000;
  const isOver = (over.state ?? 'ended') === 'ended';
  return {
    seq,
    id: `CA${seq}`,
    carrier: 'twilio',
    from_party: '+14155550100',
    to_party: '+14155550199',
    inbound_name: null,
    outbound_name: null,
    agent: null,
    queue: null,
    app: null,
    flow: null,
    flow_version: null,
    state: 'ended',
    gateway: 'g',
    started_ms: startedMs,
    ended_ms: startedMs + 60_000,
    end_reason: 'hangup',
    duration_ms: 60_000,
    outcome: null,
    handoff_data: null,
    parameters: '{}',
    tracks: '["inbound"]',
    finals: 1,
    spoken: 0,
    keys: 0,
    gaps: 0,
    worst_lag_ms: null,
    keep_until_ms: null,
    sound_bytes: null,
    message_bytes: null,
    length_ms: isOver ? (over.duration_ms ?? 60_000) : null,
    sip_status: null,
    sip_reason: null,
    ...over,
  };
}

/** A tag of that call. */
export function tagRow(seq: number, tag: string): CallTagsTable {
  return { call_seq: seq, tag, started_ms: callRow(seq).started_ms };
}

/** The nth text of a call. */
export function textRow(seq: number, n: number, text: string, over: Partial<TextsTable> = {}): TextsTable {
  return {
    id: seq * 2 ** 20 + n,
    call_seq: seq,
    kind: 'caption',
    track: 'inbound',
    utterance: String(n),
    version: 1,
    text,
    search_words: searchWordsOf(text),
    start_ms: n * 1000,
    end_ms: n * 1000 + 900,
    ...over,
  };
}

/** Stores a call that said `texts`. */
export async function addCall(
  db: Kysely<Tables>,
  seq: number,
  texts: readonly string[],
  over: Partial<Omit<CallsTable, 'seq'>> = {},
): Promise<void> {
  await db.insertInto('calls').values(callRow(seq, over)).execute();
  if (texts.length === 0) return;
  const rows = texts.map((text, index) => textRow(seq, index + 1, text));
  await db.insertInto('texts').values(rows).execute();
}
