/** What the records of calls cost, and how fast they are read. Each part measures one thing in its own databases. */
import { DATABASES } from '../records/databases.ts';
import { measureSearch } from './records-search.ts';
import type { Report } from './report.ts';

type Part = Pick<Report, 'tables' | 'goals'>;

/** Searches over so many captions; `postgres` = also in PostgreSQL, where it is installed. */
export async function benchRecords(options: {
  readonly captions: readonly number[];
  readonly rounds: number;
  readonly postgres: boolean;
}): Promise<Report> {
  const { captions, rounds, postgres } = options;
  const parts: Part[] = [];
  for (const { isThere, start } of DATABASES.slice(0, postgres ? 2 : 1)) {
    if (!isThere) continue;
    for (const count of captions) {
      const databases = start();
      parts.push(await measureSearch(await databases.open(), { captions: count, rounds }));
      await databases.end();
    }
  }
  return {
    name: 'records',
    about: 'The records of calls: what it takes to find something in them.',
    tables: parts.flatMap(({ tables }) => tables),
    notes: [
      'A search is one page of 100 calls with their snippets, through the thread of the database.',
      'Words are as frequent as Zipf’s law has them, of 20,000; a call has 20 captions of 5 to 16 words.',
    ],
    goals: parts.flatMap(({ goals }) => goals),
  };
}
