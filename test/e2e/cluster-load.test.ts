/** Many calls over nginx while one of their gateways is killed, one is drained, and one is added. */
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { type CallReport, placeCall } from '../../src/simulator/twilio-caller.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import {
  type ClusterGateway,
  finalsAt,
  speakAt,
  startCluster,
  type TestCluster,
  whyNoCluster,
} from './cluster-harness.ts';
import { type ResumingReader, resumeAt } from './cluster-readers.ts';
import { say } from './recogniser-calls.ts';
import { errorRate, recording, textOf } from './understanding.ts';

/** A gateway that is silent for 10 s is dead; the others look each 2 s. */
const LOST_WITHIN_MS = 12_000;
const STOOD_STILL_MS = 15_000;
const CALL_SPACING_MS = 100;
const WER_MAX = 15;
const UTTERANCES = 10;
/** Of the pretend recogniser, by their digits. */
const WORDS = 'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima'.split(' ');
/** Calls last, and none is refused; a caller that this machine holds up is not taken for one who stopped. */
const ENVIRONMENT = { DRAIN_TIMEOUT_MS: '43200000', MAX_CALLS: '60', STALL_MS: '10000' };
const REAL_MODELS = { ASR_MODEL: 'moonshine-tiny', VAD_MODEL: 'silero' };

let cluster: TestCluster | undefined;
let database: pg.Client | undefined;
const readers: ResumingReader[] = [];

afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await database?.end();
  await cluster?.remove();
  cluster = undefined;
  database = undefined;
});

/** What a caller is to say. */
interface Caller {
  readonly callSid: string;
  readonly speech: () => Int16Array;
}

/** Says in five digits which call it is, and which of its utterances. */
const digitsOf = (call: number, utterance: number): readonly number[] => [
  Math.floor(call / 12),
  call % 12,
  utterance,
  11 - utterance,
  (call + utterance) % 12,
];

const textsOf = (call: number): readonly string[] =>
  Array.from({ length: UTTERANCES }, (_, n) =>
    digitsOf(call, n)
      .map((digit) => WORDS[digit])
      .join(' '),
  );

const speechOf = (call: number): Int16Array =>
  Int16Array.from(Array.from({ length: UTTERANCES }, (_, n) => say(digitsOf(call, n), 1000)).flat());

/** Three turns of the caller of the demonstration, or of the agent. */
function talkOf(call: number): { readonly speech: () => Int16Array; readonly text: string } {
  const { name, fromS, toS } =
    call % 2 === 0 ? { name: 'demo-caller', fromS: 4.5, toS: 27 } : { name: 'demo-agent', fromS: 0, toS: 23 };
  const speech = () => recording(name).subarray(fromS * LINE_RATE_HZ, toS * LINE_RATE_HZ);
  return { speech, text: textOf(name, 3) };
}

async function query<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
  const result = await database?.query<Row>(sql, [...values]);
  return result?.rows ?? [];
}

async function startThree(environment: Readonly<Record<string, string>>) {
  cluster = await startCluster(3, { ...ENVIRONMENT, ...environment });
  database = new pg.Client({ connectionString: cluster.databaseUrl });
  await database.connect();
  // When each event was stored, by the database's clock.
  await query(
    'ALTER TABLE feed ADD COLUMN stored_ms BIGINT DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint',
  );
  const [first, second, third] = cluster.gateways;
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are not three');
  for (const { url } of cluster.gateways) readers.push(await resumeAt(url, cluster.url));
  return { running: cluster, first, second, third };
}

async function idOf({ url }: ClusterGateway): Promise<string> {
  const [row] = await query<{ id: string }>('SELECT id FROM gateways WHERE address = $1', [url]);
  return row?.id ?? '';
}

async function callsOf(gateway: ClusterGateway): Promise<readonly string[]> {
  const rows = await query<{ id: string }>('SELECT id FROM calls WHERE gateway = $1', [await idOf(gateway)]);
  return rows.map(({ id }) => id).toSorted();
}

/** How long after the last heartbeat of a dead gateway the end of each of its calls was stored, in ms. */
async function silenceBeforeEnds(gateway: ClusterGateway): Promise<readonly number[]> {
  const rows = await query<{ ms: number }>(
    `SELECT (feed.stored_ms - gateways.seen_ms)::int AS ms FROM feed, gateways
    WHERE gateways.id = $1 AND feed.content::json->>'reason' = 'server_lost'`,
    [await idOf(gateway)],
  );
  return rows.map(({ ms }) => ms);
}

/** Places the calls over nginx, one after the other. */
async function place(url: string, callers: readonly Caller[]): Promise<Promise<CallReport | null>[]> {
  const reports: Promise<CallReport | null>[] = [];
  for (const { callSid, speech } of callers) {
    const tracks = { inbound: speech() };
    const options = { url: `${url.replace(/^http/, 'ws')}/twilio/media`, tracks, callSid };
    reports.push(placeCall({ ...options, pace: 'realtime', clock: systemClock }).catch(() => null));
    await sleep(systemClock, CALL_SPACING_MS);
  }
  return reports;
}

/**
 * While the first callers speak, the third gateway is killed, the second is drained, a fourth is added, and the last
 * callers call. Resolves with the calls of the killed gateway when all calls are over.
 */
async function disturb(
  environment: Readonly<Record<string, string>>,
  callers: readonly Caller[],
  before: number,
): Promise<{ readonly lost: readonly string[]; readonly at: string }> {
  const { running, first, second, third } = await startThree(environment);
  const [witness] = readers;
  const early = callers.slice(0, before);
  const reports = await place(running.url, early);
  await expect.poll(() => early.filter(({ callSid }) => witness?.finals(callSid).length === 0)).toEqual([]);
  const lost = await callsOf(third);
  const drained = await callsOf(second);
  expect([lost.length > 0, drained.length > 0]).toEqual([true, true]);
  const [, late, added] = await Promise.all([
    third.stop('SIGKILL'),
    place(running.url, callers.slice(before)),
    running.add(),
    second.stop('SIGTERM').then((code) => expect(code).toBe(0)),
  ]);
  reports.push(...late);
  const ends = await Promise.all(reports);
  expect(callers.filter((_, n) => ends[n]?.closeCode !== 1000).map(({ callSid }) => callSid)).toEqual(
    callers.map(({ callSid }) => callSid).filter((callSid) => lost.includes(callSid)),
  );
  readers.push(await resumeAt(added.url, running.url, witness?.told[0]?.id));
  const all = callers.map(({ callSid }) => callSid).toSorted();
  for (const reader of readers) await expect.poll(() => reader.ended().toSorted(), { interval: 250 }).toEqual(all);
  const lostIn = await query<{ id: string }>("SELECT id FROM calls WHERE end_reason = 'server_lost' ORDER BY id");
  expect(lostIn.map(({ id }) => id).toSorted()).toEqual(lost);
  const silences = await silenceBeforeEnds(third);
  expect(silences).toHaveLength(lost.length);
  expect(Math.max(...silences)).toBeLessThanOrEqual(LOST_WITHIN_MS);
  return { lost, at: first.url };
}

/** Fails unless every reader has all events once, in one order, also the one that came last, and where it went. */
function expectSameEverywhere(): void {
  const [first, drained, killed, last] = readers;
  const ids = first?.told.map(({ id }) => id) ?? [];
  expect(ids).toEqual([...new Set(ids)]);
  for (const reader of [drained, killed]) {
    expect(reader?.told.map(({ id }) => id)).toEqual(ids);
    expect(reader?.resumed).toBeGreaterThan(0);
  }
  expect(last?.told.map(({ id }) => id)).toEqual(ids.slice(1));
  const events = first?.told.map(({ event }) => event) ?? [];
  const once = events.flatMap((event) => {
    if (event.type === 'caption') return event.final ? `${event.callId} final ${event.utterance}` : [];
    return event.type === 'call.started' || event.type === 'call.ended' ? `${event.callId} ${event.type}` : [];
  });
  expect(once).toEqual([...new Set(once)]);
  expect(events.filter(({ type }) => type === 'gap')).toEqual([]);
}

describe.skipIf(whyNoCluster !== '')(`calls while gateways are killed, drained and added${whyNoCluster}`, () => {
  it('lose no final of 60 outside the killed one, and readers have each event once', async () => {
    const numbers = Array.from({ length: 60 }, (_, n) => n);
    const callers = numbers.map((n) => ({ callSid: `CA${n}`, speech: () => speechOf(n) }));
    const { lost, at } = await disturb({}, callers, 40);
    expectSameEverywhere();
    for (const n of numbers) {
      const told = readers[0]?.finals(`CA${n}`).map(({ text }) => text) ?? [];
      const isLost = lost.includes(`CA${n}`);
      expect([n, told]).toEqual([n, textsOf(n).slice(0, isLost ? told.length : UTTERANCES)]);
      if (isLost) continue;
      await expect.poll(async () => (await finalsAt(at, `CA${n}`)).map(({ text }) => text)).toEqual(told);
    }
  });

  it('are understood by the real recogniser, but for what was said after the kill', async () => {
    const callers = Array.from({ length: 6 }, (_, n) => ({ callSid: `CA${n}`, ...talkOf(n) }));
    const { lost, at } = await disturb(REAL_MODELS, callers, 5);
    expectSameEverywhere();
    for (const { callSid, text } of callers) {
      if (lost.includes(callSid)) continue;
      const told = readers[0]?.finals(callSid).map(({ text }) => text) ?? [];
      expect(errorRate(text, told.join(' '))).toBeLessThan(WER_MAX);
      await expect.poll(async () => (await finalsAt(at, callSid)).map(({ text }) => text)).toEqual(told);
    }
  });
});

describe.skipIf(whyNoCluster !== '')(`a gateway that stood still${whyNoCluster}`, () => {
  it('is back with its calls when it goes on, and says of what comes late that it does', async () => {
    const { running, first, third } = await startThree({});
    const calls = [speakAt(third.url, 'CA1'), speakAt(first.url, 'CA2', 12)];
    const [witness] = readers;
    for (const { callSid } of calls) await expect.poll(() => witness?.finals(callSid).length).toBeGreaterThan(0);
    const id = await idOf(third);
    const stateIs = (state: string) => query('SELECT 1 FROM gateways WHERE id = $1 AND state = $2', [id, state]);
    process.kill(third.pid, 'SIGSTOP');
    await expect.poll(() => witness?.ended()).toContain('CA1');
    await expect.poll(() => stateIs('ended')).toHaveLength(1);
    const silent = `SELECT 1 FROM gateways WHERE id = $1
      AND seen_ms < (extract(epoch from clock_timestamp()) * 1000)::bigint - $2::bigint`;
    await expect.poll(() => query(silent, [id, STOOD_STILL_MS])).toHaveLength(1);
    process.kill(third.pid, 'SIGCONT');
    await expect.poll(() => stateIs('serving')).toHaveLength(1);
    expect(third.logLines).toContainEqual(
      expect.objectContaining({ msg: expect.stringContaining('took this one for dead') }),
    );
    await Promise.all(calls.map(({ report }) => report));
    // Those of the others: the third had shown some before they had their numbers.
    const others = readers.slice(0, 2);
    for (const reader of others) {
      await expect.poll(() => reader.ended().toSorted()).toEqual(['CA1', 'CA1', 'CA2']);
      const ofLost = reader.told.flatMap(({ event }) => (event.callId === 'CA1' ? event : []));
      const [lostAt = 0, endedAt = 0] = ofLost.flatMap(({ type }, at) => (type === 'call.ended' ? at : []));
      const resumedAt = ofLost.findIndex(({ type }) => type === 'call.resumed');
      expect(ofLost[lostAt]).toMatchObject({ reason: 'server_lost' });
      expect(ofLost[endedAt]).not.toMatchObject({ reason: 'server_lost' });
      for (const event of ofLost.slice(lostAt + 1, resumedAt < 0 ? endedAt + 1 : resumedAt))
        expect(event).toMatchObject({ late: true });
      const heard = reader.finals('CA1').map(({ utterance }) => utterance);
      expect(heard).toEqual([...new Set(heard)]);
      await expect
        .poll(async () => (await finalsAt(running.url, 'CA1')).map(({ utterance }) => utterance))
        .toEqual(heard);
    }
    const [ofFirst, ofSecond] = others.map((reader) => reader.told.map((each) => each.id));
    expect(ofFirst).toEqual(ofSecond);
    expect((await finalsAt(running.url, 'CA2')).length).toBe(12);
  });
});
