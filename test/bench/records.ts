/** What the records of calls cost, and how fast they are read. Each part measures one thing in its own databases. */
import { loadavg } from 'node:os';
import { whyNoPostgres } from '../helpers/postgres.ts';
import { type LiveCallsOptions, measureLiveCalls } from './records-live.ts';
import { postgresPlaces, type RecordsPlaces, sqlitePlaces } from './records-places.ts';
import { measureSearch } from './records-search.ts';
import { measureStart, type StartOptions } from './records-start.ts';
import { measureWaiting } from './records-waiting.ts';
import { measureWriting, type WritingOptions } from './records-writing.ts';
import { figure, type Report } from './report.ts';

type Part = Pick<Report, 'tables' | 'goals'>;

/** How much is measured. */
export interface RecordsBenchOptions {
  readonly writing: WritingOptions;
  readonly live: LiveCallsOptions;
  readonly start: StartOptions;
  /** Searches over each of these numbers of captions, so many of each kind. */
  readonly search: { readonly captions: readonly number[]; readonly rounds: number };
  /** Also in PostgreSQL. */
  readonly postgres: boolean;
}

/** Runs the benchmark. @throws Error when PostgreSQL is asked for and not installed */
export async function benchRecords(options: RecordsBenchOptions): Promise<Report> {
  if (options.postgres && whyNoPostgres !== '') throw new Error('--postgres: PostgreSQL is not installed');
  const parts: Part[] = [await measureWaiting()];
  const [loadBefore] = loadavg();
  for (const open of options.postgres ? [sqlitePlaces, postgresPlaces] : [sqlitePlaces]) {
    const places = await open();
    try {
      for await (const part of measureIn(places, options)) parts.push(part);
    } finally {
      await places.remove();
    }
  }
  return {
    name: 'records',
    about:
      'The records of calls: how fast they are written, what they add to a call, what they take on disk, how long a ' +
      'start takes with many of them, and what it takes to find something in them.',
    tables: parts.flatMap(({ tables }) => tables),
    notes: [
      'An hour of a call: each side speaks two fifths of the time, 150 words a minute. That is 684 utterances of 5 ' +
        'to 16 words, both sides together; one in five is read again. Words are as frequent as Zipf’s law has ' +
        'them, of 20,000.',
      'Added: what publishing takes with records, less what it takes without, the same events in turns. Until ' +
        'stored: from its publication until the transaction with it has come back from the disk.',
      'The live calls speak to pretend models, so that nothing but the gateway works; its event loop is looked at ' +
        'every 5 ms. Medians of the rounds.',
      'A search is one page of 100 calls with their snippets, through the thread of the database; a call has 20 ' +
        'captions there.',
      'Other work on the machine changes most of these figures. Its load average was ' +
        `${figure(loadBefore ?? 0, 1)} before.`,
    ],
    goals: parts.flatMap(({ goals }) => goals),
  };
}

async function* measureIn(places: RecordsPlaces, options: RecordsBenchOptions): AsyncGenerator<Part> {
  const { writing, live, start, search } = options;
  say(places, 'writing');
  yield await measureWriting(places, writing);
  say(places, 'live calls');
  yield await measureLiveCalls(places, live);
  say(places, 'starts');
  yield await measureStart(places, start);
  for (const captions of search.captions) {
    say(places, `searches in ${captions.toLocaleString('en')} captions`);
    const database = await (await places.make()).open();
    yield await measureSearch(database, { captions, rounds: search.rounds });
    await database.close();
  }
}

function say({ name }: RecordsPlaces, what: string): void {
  process.stderr.write(`${name}: ${what}\n`);
}
