/** How fast events of calls are stored, what that adds to telling them, and what they take on disk. */
import { sql } from 'kysely';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { Feed } from '../../src/calls/feed/feed.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import type { Records } from '../../src/records/records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { usedBytes } from '../../src/records/retention/used-bytes.ts';
import { parseSearch } from '../../src/records/search/search-query.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { ended, openToldGateway, said, started, type ToldGateway } from '../records/told-calls.ts';
import { storeCaptions } from './records-captions.ts';
import type { RecordsPlaces } from './records-places.ts';
import { zipfText, zipfWords } from './records-words.ts';
import { figure, quantile, type Report } from './report.ts';

const GOAL_ADDED_MS = 2;
const GOAL_STORED_MS = 200;
const LIVE_CALLS = 20;
/** Of each call: more than people say, whose utterances take some seconds each. */
const EVENTS_PER_SECOND = 3;
/** Of both sides of a call of five minutes: 7,200 words an hour, when each side speaks two fifths of the time. */
const UTTERANCES_PER_CALL = 57;
const CALL_MS = 300_000;
const HOUR_MS = 3_600_000;
/** One utterance of so many is read again. */
const REVISED = 5;
/** The recorder holds 50,000 events at most. */
const WAITING_MAX = 20_000;

/** What is measured; `hours` of calls are stored as fast as that goes, then live calls are told for `seconds`. */
export interface WritingOptions {
  readonly hours: number;
  readonly seconds: number;
}

type Part = Pick<Report, 'tables' | 'goals'>;

/** Stores calls in databases of their own. */
export async function measureWriting(places: RecordsPlaces, { hours, seconds }: WritingOptions): Promise<Part> {
  const flood = await measureFlood(places, hours);
  const database = await (await places.make()).open();
  await storeCaptions(database, 100_000);
  const gateway = openToldGateway(database);
  const idle = await measureLive(gateway, { seconds, name: 'live' });
  const search = searchAgainAndAgain(gateway.records);
  const searched = await measureLive(gateway, { seconds, name: 'searched' });
  const searches = await search.stop();
  await gateway.records.close();
  const more = addedMs(idle, 0.99);
  const storedMs = quantile(idle.storedMs, 0.99);
  return {
    tables: [floodTable(places.name, flood), liveTable(places.name, idle, { ...searched, searches })],
    goals: [
      {
        goal: `p99 of what records add to publishing an event ≤ ${GOAL_ADDED_MS} ms (${places.name})`,
        found: `${figure(more, 3)} ms`,
        met: more <= GOAL_ADDED_MS,
      },
      {
        goal: `p99 of the time until an event is stored ≤ ${GOAL_STORED_MS} ms (${places.name})`,
        found: `${figure(storedMs)} ms`,
        met: storedMs <= GOAL_STORED_MS,
      },
    ],
  };
}

interface Flood {
  readonly events: number;
  readonly seconds: number;
  readonly hours: number;
  readonly words: number;
  readonly bytes: number;
}

/** Calls of twenty at once, told as fast as they are stored. */
async function measureFlood(places: RecordsPlaces, hours: number): Promise<Flood> {
  const database = await (await places.make()).open();
  const { feed, records } = openToldGateway(database);
  const before = await bytesOf(database);
  const random = seededRandom(4);
  const word = zipfWords(random);
  const calls = Math.ceil((hours * HOUR_MS) / CALL_MS);
  let [events, words] = [0, 0];
  const beganMs = systemClock.nowMs();
  for (let first = 0; first < calls; first += LIVE_CALLS) {
    const together = Array.from({ length: Math.min(LIVE_CALLS, calls - first) }, (_, i) =>
      wholeCall(`CA${first + i}`, word, random),
    );
    for (let n = 0; together.some((call) => n < call.length); n++) {
      for (const event of together.flatMap((call) => call[n] ?? [])) {
        feed.publish(event);
        events++;
        if (event.type === 'caption') words += event.text.split(' ').length;
      }
      if (records.recorder.backlog > WAITING_MAX) await records.recorder.settled();
    }
  }
  await records.recorder.settled();
  const seconds = (systemClock.nowMs() - beganMs) / 1000;
  const bytes = (await bytesOf(database)) - before;
  if (records.recorder.lost > 0) throw new Error(`${records.recorder.lost} events were lost`);
  await records.close();
  return { events, seconds, hours: (calls * CALL_MS) / HOUR_MS, words, bytes };
}

function wholeCall(id: string, word: () => string, random: () => number): FeedEvent[] {
  const events: FeedEvent[] = [started(id, { tracks: ['inbound', 'outbound'] })];
  for (let n = 1; n <= UTTERANCES_PER_CALL; n++) {
    const startMs = (n * CALL_MS) / (UTTERANCES_PER_CALL + 1);
    const times = { startMs: Math.round(startMs), endMs: Math.round(startMs) + 4200 };
    const track = n % 2 === 0 ? 'outbound' : 'inbound';
    const text = zipfText(word, random);
    events.push(said(id, n, text, { ...times, track }));
    if (n % REVISED === 0)
      events.push({ type: 'revision', callId: id, track, utterance: n, version: 2, text, ...times });
  }
  return [...events, ended(id, CALL_MS)];
}

async function bytesOf({ kind, db, reader, sizeBytes }: RecordsDatabase): Promise<number> {
  if (kind === 'sqlite') return usedBytes(reader);
  await sql`CHECKPOINT`.execute(db);
  return sizeBytes();
}

/** What 20 live calls measured, one value for each event. */
interface Live {
  readonly withMs: readonly number[];
  readonly withoutMs: readonly number[];
  readonly storedMs: readonly number[];
}

/** Publishes the same events to a feed that is recorded and to one that is not, in turns. */
async function measureLive(
  { feed, records }: ToldGateway,
  { seconds, name }: { readonly seconds: number; readonly name: string },
): Promise<Live> {
  const plain = new Feed({ history: 10, epoch: 'plain' });
  for (const each of [feed, plain]) each.subscribe({}, () => undefined);
  const random = seededRandom(5);
  const word = zipfWords(random);
  const callIds = Array.from({ length: LIVE_CALLS }, (_, i) => `CA${name}${i}`);
  for (const id of callIds) feed.publish(started(id));
  const live = { withMs: [] as number[], withoutMs: [] as number[], storedMs: [] as number[] };
  const pauseMs = 1000 / (LIVE_CALLS * EVENTS_PER_SECOND);
  const beganMs = systemClock.nowMs();
  for (let n = 1; n <= seconds * LIVE_CALLS * EVENTS_PER_SECOND; n++) {
    const event = said(callIds[n % LIVE_CALLS] ?? '', Math.ceil(n / LIVE_CALLS), zipfText(word, random));
    if (n % 2 === 0) live.withoutMs.push(tookMs(() => plain.publish(event)));
    const publishedMs = systemClock.nowMs();
    live.withMs.push(tookMs(() => feed.publish(event)));
    void records.recorder.settled().then(() => live.storedMs.push(systemClock.nowMs() - publishedMs));
    if (n % 2 !== 0) live.withoutMs.push(tookMs(() => plain.publish(event)));
    await sleep(systemClock, Math.max(beganMs + n * pauseMs - systemClock.nowMs(), 0));
  }
  for (const id of callIds) feed.publish(ended(id));
  await records.recorder.settled();
  return live;
}

function tookMs(work: () => void): number {
  const beganMs = systemClock.nowMs();
  work();
  return systemClock.nowMs() - beganMs;
}

function addedMs({ withMs, withoutMs }: Live, share: number): number {
  return quantile(withMs, share) - quantile(withoutMs, share);
}

/** One search after the other, as somebody who types makes them, until it is stopped. */
function searchAgainAndAgain({ lists }: Records): { stop(): Promise<number> } {
  let [goesOn, searches] = [true, 0];
  const nowhere = { list: () => [], get: () => undefined };
  const queries = ['the -of', '"to be the of"', 'people -will', 'ing*'].map(parseSearch);
  const done = (async () => {
    for (let n = 0; goesOn; n++) {
      const query = queries[n % queries.length];
      if (query !== undefined) await lists.searchPage(nowhere, query, {}, { belowSeq: null, limit: 100 });
      searches++;
    }
  })();
  return {
    stop: async () => {
      goesOn = false;
      await done;
      return searches;
    },
  };
}

function floodTable(name: string, { events, seconds, hours, words, bytes }: Flood): Report['tables'][number] {
  return {
    title: `${name}: ${figure(hours)} hours of calls, told at once`,
    heads: ['events', 'events/s', 'words in an hour of a call', 'MB on disk for it', 'bytes for a word'],
    rows: [
      [
        events,
        figure(events / seconds),
        figure(words / hours),
        figure(bytes / hours / 1e6, 2),
        figure(bytes / words, 1),
      ],
    ],
  };
}

function liveTable(name: string, idle: Live, searched: Live & { searches: number }): Report['tables'][number] {
  const row = (what: string, live: Live): string[] => {
    const shares = [0.5, 0.99];
    return [
      what,
      ...shares.map((share) => figure(quantile(live.withMs, share), 3)),
      ...shares.map((share) => figure(addedMs(live, share), 3)),
      ...shares.map((share) => figure(quantile(live.storedMs, share))),
    ];
  };
  return {
    title: `${name}: ${LIVE_CALLS} live calls with ${EVENTS_PER_SECOND} events a second each`,
    heads: ['', 'publish p50 ms', 'p99 ms', 'added p50 ms', 'p99 ms', 'until stored p50 ms', 'p99 ms'],
    rows: [
      row('nothing else', idle),
      row(`meanwhile ${searched.searches} searches, one after the other, in 100,000 captions`, searched),
    ],
  };
}
