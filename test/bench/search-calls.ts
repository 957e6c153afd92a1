/** Very many stored calls for a benchmark, made by the database itself. */
import { sql } from 'kysely';
import type { OldRecords } from './records-places.ts';

/** The calls are stored as a program with this schema does: what brings them up to this one is measured. */
export const OLD_STEP = '0005-messages';

/** When the first call began, and how long after each the next one did. */
export const START_MS = Date.UTC(2026, 0, 1);
export const STEP_MS = 2000;

const CALLS_PER_WRITE = 10_000;

/** The columns of call `n`, of `calls` in all. */
const callOf = (calls: number): string => `
  n, 'CA' || n, CASE WHEN n % 3 = 0 THEN 'sip' ELSE 'twilio' END,
  '+1415' || substr(CAST(10000000 + (n * 7919) % ${Math.ceil(calls / 20)} AS TEXT), 2),
  '+1800555' || (1000 + n % 20), CASE WHEN n % 10000 = 0 THEN 'Mariposa ' ELSE 'Caller ' END || (n % 100000), NULL,
  'agent' || (n % 200), 'queue' || (n % 10), 'flow' || (n % 20), 'v1', 'ended', 'g', ${START_MS} + n * ${STEP_MS},
  ${START_MS} + n * ${STEP_MS} + 60000, 'hangup', CASE WHEN n % 10000 = 1 THEN 3700000 ELSE (n * 31) % 600000 END,
  CASE WHEN n % 5000 = 0 THEN 'lost' WHEN n % 4 = 0 THEN 'solved' END, '{}', '["inbound"]', 1, 0, 0, 0`;
const CALL_COLUMNS =
  'seq, id, carrier, from_party, to_party, inbound_name, outbound_name, agent, queue, flow, flow_version, state, ' +
  'gateway, started_ms, ended_ms, end_reason, duration_ms, outcome, parameters, tracks, finals, spoken, ' +
  'keys, gaps';

const CALL_ID = '"callId":"CA\' || n || \'"';
/** Five events of each call, those of its flow among them, as they are told. */
const EVENTS: readonly (readonly [string, string])[] = [
  ['call.started', `'{"type":"call.started",${CALL_ID}}'`],
  [
    'flow.step',
    `'{"type":"flow.step",${CALL_ID},"flow":"flow' || (n % 20) || '","step":"start","verb":"menu","atMs":10}'`,
  ],
  [
    'flow.input',
    `'{"type":"flow.input",${CALL_ID},"flow":"flow' || (n % 20) || '","step":"start","kind":"keys","text":"1",' ||
      '"outcome":"match","value":"one","atMs":900}'`,
  ],
  ['flow.ended', `'{"type":"flow.ended",${CALL_ID},"flow":"flow' || (n % 20) || '","outcome":"done","atMs":2000}'`],
  ['call.ended', `'{"type":"call.ended",${CALL_ID}}'`],
];

/**
 * Fills empty records of the schema {@link OLD_STEP} with `calls` calls, each with five events and one text; every
 * 5,000th has the tag `vip`.
 */
export async function fillCalls({ db, kind }: OldRecords, calls: number): Promise<void> {
  for (let first = 1; first <= calls; first += CALLS_PER_WRITE) {
    const last = Math.min(first + CALLS_PER_WRITE - 1, calls);
    const numbers =
      kind === 'postgres'
        ? `(SELECT generate_series AS n FROM generate_series(${first}::bigint, ${last}::bigint)) AS numbers`
        : `(WITH RECURSIVE up(n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM up WHERE n < ${last})
            SELECT n FROM up)`;
    const statements = [
      `INSERT INTO calls (${CALL_COLUMNS}) SELECT ${callOf(calls)} FROM ${numbers}`,
      ...EVENTS.map(
        ([type, content], at) => `INSERT INTO events (epoch, number, call_seq, type, at_ms, content)
          SELECT 'e', n * 5 + ${at}, n, '${type}', ${START_MS} + n * ${STEP_MS}, ${content} FROM ${numbers}`,
      ),
      `INSERT INTO texts (id, call_seq, kind, track, utterance, version, text, start_ms, end_ms)
        SELECT n * 1048576 + 1, n, 'caption', 'inbound', '1', 1, 'a refund please word' || (n % 1000), 0, 900
        FROM ${numbers}`,
      `INSERT INTO call_tags (call_seq, tag) SELECT n, 'vip' FROM ${numbers} WHERE n % 5000 = 0`,
    ];
    await db.transaction().execute(async (transaction) => {
      for (const statement of statements) await sql.raw(statement).execute(transaction);
    });
  }
}
