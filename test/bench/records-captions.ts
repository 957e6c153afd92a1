/** Stored captions for benchmarks of the records. */
import { sql } from 'kysely';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { TEXTS_PER_CALL } from '../../src/records/search/search-blocks.ts';
import type { CallsTable, TextsTable } from '../../src/records/tables.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { callRow } from '../helpers/record-rows.ts';
import { zipfText, zipfWords } from './records-words.ts';

/** Of each call of the benchmark. */
export const CAPTIONS_PER_CALL = 20;
const CALLS_PER_WRITE = 25;

/** Stores calls with `captions` captions of 5 to 16 words. Every 1000th is by SIP, every 7th in the queue sales. */
export async function storeCaptions(
  { db, kind }: Pick<RecordsDatabase, 'db' | 'kind'>,
  captions: number,
): Promise<void> {
  const random = seededRandom(2);
  const word = zipfWords(random);
  const calls = Math.ceil(captions / CAPTIONS_PER_CALL);
  for (let first = 1; first <= calls; first += CALLS_PER_WRITE) {
    const rows: (Omit<CallsTable, 'seq'> & { seq: number })[] = [];
    const texts: TextsTable[] = [];
    for (let seq = first; seq < Math.min(first + CALLS_PER_WRITE, calls + 1); seq++) {
      const row = callRow(seq, { carrier: seq % 1000 === 0 ? 'sip' : 'twilio', queue: seq % 7 === 0 ? 'sales' : null });
      rows.push({ ...row, started_ms: Date.UTC(2026, 0, 1) + seq * 5000 });
      for (let n = 1; n <= CAPTIONS_PER_CALL; n++) texts.push(captionOf(seq, n, word, random));
    }
    await db.transaction().execute(async (transaction) => {
      await transaction.insertInto('calls').values(rows).execute();
      await transaction.insertInto('texts').values(texts).execute();
    });
  }
  // Its own vacuum does this a minute later: until then the index is partly a list, and the planner knows nothing.
  if (kind === 'postgres') await sql`VACUUM ANALYZE`.execute(db);
}

function captionOf(seq: number, n: number, word: () => string, random: () => number): TextsTable {
  const text = zipfText(word, random);
  return {
    id: seq * TEXTS_PER_CALL + n,
    call_seq: seq,
    kind: 'caption',
    track: n % 2 === 0 ? 'outbound' : 'inbound',
    utterance: String(n),
    version: 1,
    text,
    search_words: null,
    start_ms: n * 3000,
    end_ms: n * 3000 + 2500,
  };
}
