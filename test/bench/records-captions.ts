/** Captions for benchmarks of the records: words as frequent as they are in speech, always the same. */
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { TEXTS_PER_CALL } from '../../src/records/search/search-blocks.ts';
import type { CallsTable, TextsTable } from '../../src/records/tables.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { callRow } from '../helpers/record-rows.ts';

/** Of each call of the benchmark. */
export const CAPTIONS_PER_CALL = 20;
const VOCABULARY = 20_000;
const CALLS_PER_WRITE = 25;

const COMMON = (
  'the be to of and a in that have i it for not on with he as you do at this but his by from they we say her ' +
  'she or an will my one all would there their what so up out if about who get which go me when make can like ' +
  'time no just him know take people into year your good some could them see other than then now look only ' +
  'come its over think also'
).split(' ');
const SYLLABLES = (
  'ba be bi bo bu da de di do fa fe fi ga ge go ha he hi ho ja jo ka ke ki ko la le li lo lu ma me mi mo na ' +
  'ne ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi wa we wi ya yo za zo ing ter tion ment ' +
  'ness able com con dis'
).split(' ');

/** Words, the most frequent first: English ones, then made-up ones. */
export const WORDS: readonly string[] = makeWords();

function makeWords(): string[] {
  const random = seededRandom(1);
  const words = new Set(COMMON);
  while (words.size < VOCABULARY) {
    const syllables = Array.from({ length: 2 + Math.floor(random() * 3) }, () => SYLLABLES[Math.floor(random() * 73)]);
    words.add(syllables.join(''));
  }
  return [...words];
}

/** Draws words as often as Zipf's law has them. */
function zipfWords(random: () => number): () => string {
  const sums = new Float64Array(WORDS.length);
  let sum = 0;
  for (let rank = 0; rank < WORDS.length; rank++) {
    sum += 1 / (rank + 2.7) ** 1.05;
    sums[rank] = sum;
  }
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, WORDS.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return WORDS[low] ?? '';
  };
}

/** Stores calls with `captions` captions of 5 to 16 words. Every 1000th is by SIP, every 7th in the queue sales. */
export async function storeCaptions({ db }: Pick<RecordsDatabase, 'db'>, captions: number): Promise<void> {
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
}

function captionOf(seq: number, n: number, word: () => string, random: () => number): TextsTable {
  const text = Array.from({ length: 5 + Math.floor(random() * 12) }, word).join(' ');
  return {
    id: seq * TEXTS_PER_CALL + n,
    call_seq: seq,
    kind: 'caption',
    track: n % 2 === 0 ? 'outbound' : 'inbound',
    utterance: String(n),
    version: 1,
    text,
    start_ms: n * 3000,
    end_ms: n * 3000 + 2500,
  };
}
