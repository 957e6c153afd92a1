/** What events take in memory that wait for a database that is away. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Feed } from '../../src/calls/feed/feed.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { DatabaseAway } from '../../src/foundation/database/trouble.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import type { OpenRedaction } from '../../src/records/record-redaction.ts';
import { Recorder } from '../../src/records/recorder.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { said } from '../records/told-calls.ts';
import { zipfText, zipfWords } from './records-words.ts';
import { figure, type Report } from './report.ts';

const CALLS = 40;
/** 684 utterances an hour, and one in five is read again: {@link Report.notes}. */
const EVENTS_A_MINUTE = (684 * 1.2) / 60;
const MINUTES = 10;
const EVENTS_MAX = 50_000;
const MIB = 1024 * 1024;

/** Publishes events to a recorder that cannot store any, and looks at the heap. */
export async function measureWaiting(): Promise<Pick<Report, 'tables' | 'goals'>> {
  const talk = Math.round(CALLS * EVENTS_A_MINUTE * MINUTES);
  const rows: string[][] = [];
  for (const events of [talk, EVENTS_MAX]) rows.push([figure(events), figure((await heapOf(events)) / MIB, 1)]);
  return {
    tables: [
      {
        title: `Events that wait in memory (${figure(talk)} are ${MINUTES} minutes of ${CALLS} calls)`,
        heads: ['events', 'MiB of heap'],
        rows,
      },
    ],
    goals: [],
  };
}

async function heapOf(events: number): Promise<number> {
  const feed = new Feed({ history: 10, epoch: 'bench' });
  const away = async (): Promise<never> => {
    throw new DatabaseAway('away');
  };
  const writer = { write: away, rewrite: away, check: away, probe: away };
  const parts = { clock: systemClock, log: createLog('silent'), metrics: new Metrics().records };
  const redaction: OpenRedaction = () => ({
    take: (_id, event) => ({ event, rewrites: [] }),
    maskText: (text) => text,
    close: () => undefined,
  });
  const recorder = new Recorder({ writer, refused: null, redaction, targetOf: () => null, ...parts });
  recorder.follow(feed, { get: () => undefined, parameters: () => undefined });
  const random = seededRandom(3);
  const word = zipfWords(random);
  const before = usedHeap();
  for (let n = 0; n < events; n++) feed.publish(said(`CA${n % CALLS}`, n, zipfText(word, random)));
  const used = usedHeap() - before;
  if (recorder.backlog !== events) throw new Error(`expected ${events} events to wait, got ${recorder.backlog}`);
  // Its end waits 10 s for what it can never write.
  void recorder.close();
  return used;
}

function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
