/** How long a gateway takes to start with many calls in its records. */
import { systemClock } from '../../src/foundation/clock.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { TEXTS_PER_CALL } from '../../src/records/search/search-blocks.ts';
import type { TextsTable } from '../../src/records/tables.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { startGateway } from '../helpers/gateway.ts';
import { callRow, textRow } from '../helpers/record-rows.ts';
import type { RecordsPlaces } from './records-places.ts';
import { zipfText, zipfWords } from './records-words.ts';
import { figure, quantile, type Report } from './report.ts';

const GOAL_MS = 2000;
const CALLS_PER_WRITE = 100;
const TEXTS_PER_STORED_CALL = 3;
const LOST_CALLS = 20;
const TONES = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };

/** So many calls in the records, and so many starts of each kind. */
export interface StartOptions {
  readonly calls: number;
  readonly starts: number;
}

/** Starts gateways without records, with empty ones and with full ones, in turns. */
export async function measureStart(
  places: RecordsPlaces,
  { calls, starts }: StartOptions,
): Promise<Pick<Report, 'tables' | 'goals'>> {
  const [empty, full] = [await places.make(), await places.make()];
  const filled = await full.open();
  await storeCalls(filled, calls);
  const bytes = await filled.sizeBytes();
  await filled.close();
  const kinds = [
    { name: 'without records', environment: {}, before: async () => undefined },
    { name: 'no calls yet', environment: empty.environment, before: async () => undefined },
    {
      name: `${calls.toLocaleString('en')} calls, ${LOST_CALLS} of them of a server that died`,
      environment: full.environment,
      before: async () => {
        const database = await full.open();
        await loseCalls(database);
        await database.close();
      },
    },
  ].map((kind) => ({ ...kind, tookMs: [] as number[] }));
  for (let n = 0; n < starts; n++) {
    for (const { environment, before, tookMs } of kinds) {
      await before();
      const beganMs = systemClock.nowMs();
      const gateway = await startGateway({ ...TONES, ...environment });
      tookMs.push(systemClock.nowMs() - beganMs);
      await gateway.stop();
    }
  }
  const fullMs = quantile(kinds[2]?.tookMs ?? [], 0.5);
  return {
    tables: [
      {
        title: `${places.name}: from the command to listening, ${starts} starts each (${figure(bytes / 1e6)} MB)`,
        heads: ['records', 'median ms', 'slowest ms'],
        rows: kinds.map(({ name, tookMs }) => [name, figure(quantile(tookMs, 0.5)), figure(Math.max(...tookMs))]),
      },
    ],
    goals: [
      {
        goal: `a start with ${calls.toLocaleString('en')} calls ≤ ${GOAL_MS} ms (${places.name})`,
        found: `${figure(fullMs)} ms`,
        met: fullMs <= GOAL_MS,
      },
    ],
  };
}

async function storeCalls({ db }: RecordsDatabase, calls: number): Promise<void> {
  const random = seededRandom(6);
  const word = zipfWords(random);
  for (let first = 1; first <= calls; first += CALLS_PER_WRITE) {
    const seqs = Array.from({ length: Math.min(CALLS_PER_WRITE, calls - first + 1) }, (_, i) => first + i);
    const texts: TextsTable[] = seqs.flatMap((seq) =>
      Array.from({ length: TEXTS_PER_STORED_CALL }, (_, n) => textRow(seq, n + 1, zipfText(word, random))),
    );
    const events = texts.map(({ id, call_seq, text }) => ({
      epoch: 'bench',
      number: (id % TEXTS_PER_CALL) + call_seq * TEXTS_PER_STORED_CALL,
      call_seq,
      type: 'caption',
      at_ms: callRow(call_seq).started_ms,
      content: JSON.stringify({ type: 'caption', callId: `CA${call_seq}`, text, stable: text, tail: '', final: true }),
    }));
    await db.transaction().execute(async (transaction) => {
      await transaction
        .insertInto('calls')
        .values(seqs.map((seq) => callRow(seq)))
        .execute();
      await transaction.insertInto('texts').values(texts).execute();
      await transaction.insertInto('events').values(events).execute();
    });
  }
}

/** Makes the last calls those of a gateway that died in them. */
async function loseCalls({ db }: RecordsDatabase): Promise<void> {
  const last = db.selectFrom('calls').select('seq').orderBy('seq', 'desc').limit(LOST_CALLS);
  await db
    .updateTable('calls')
    .set({ state: 'live', ended_ms: null, end_reason: null, gateway: 'dead' })
    .where('seq', 'in', last)
    .execute();
}
