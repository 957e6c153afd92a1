/**
 * What it brings that jobs share model runs, and what an urgent one pays for it: the engine's scheduler with a pretend
 * recogniser whose runs take a fixed time and a little more for each row, in simulated time.
 */
import { uniform } from '../helpers/signals.ts';
import { measureQwenBatches } from './batching-qwen.ts';
import { DECODER, ENCODER, Simulation } from './batching-simulation.ts';
import { figure, mean, quantile, type Report } from './report.ts';

const TRACKS = 64;
const BATCHES = [1, 4, 16, 64];
/** A caption while somebody speaks, and one at the end of each utterance. */
const PARTIAL_EVERY_MS = 1000;
const FINAL_EVERY_MS = 5000;
const PARTIAL_DUE_MS = 1000;
const FINAL_DUE_MS = 500;

/** Recordings that wait at any time, and the calls beside them. */
const RECORDINGS = 64;
const CALLS_BESIDE = 4;

const GAIN_MIN = 4;

interface Options {
  /** Of simulated time, for each row of a table. */
  readonly seconds: number;
  /** Of the real graphs; the shortest time counts. */
  readonly rounds: number;
}

/** Runs the benchmark. */
export async function benchBatching({ seconds, rounds }: Options): Promise<Report> {
  const [busy, live, mixed]: [Busy[], Live[], Live[]] = [[], [], []];
  for (const batchMax of BATCHES) {
    busy.push(await keepBusy(batchMax, seconds));
    live.push(await serveCalls(batchMax, { seconds, calls: TRACKS, recordings: 0 }));
    mixed.push(await serveCalls(batchMax, { seconds, calls: CALLS_BESIDE, recordings: RECORDINGS }));
  }
  const [alone, sixteen] = [busy[0], busy[BATCHES.indexOf(16)]];
  const gain = (sixteen?.perSecond ?? 0) / (alone?.perSecond ?? 1);
  const heads = ['rows at most', 'rows of a run', 'finals: mean, ms', 'p95, ms', 'longest, ms', 'partials in time'];
  return {
    name: 'batching',
    about:
      'Jobs that share model runs beside jobs that do not: the scheduler of the engine in simulated time, with a ' +
      `pretend recogniser. A reading is a run of the encoder (${costText(ENCODER)}) and one of the decoder ` +
      `(${costText(DECODER)}). These times are chosen, not measured. The last table is in real time.`,
    tables: [
      {
        title: `${TRACKS} tracks that always have a reading to make`,
        heads: [
          'rows at most',
          'rows of a run',
          'readings per s',
          'times as many',
          'a reading: mean, ms',
          'longest, ms',
        ],
        rows: busy.map((found) => [
          found.batchMax,
          figure(found.rows, 1),
          figure(found.perSecond, 1),
          figure(found.perSecond / (alone?.perSecond ?? 1), 1),
          figure(mean(found.tookMs)),
          figure(quantile(found.tookMs, 1)),
        ]),
      },
      {
        title: `${TRACKS} calls: a partial every ${PARTIAL_EVERY_MS} ms, a final every ${FINAL_EVERY_MS} ms`,
        heads,
        rows: live.map(liveRow),
      },
      {
        title: `${CALLS_BESIDE} such calls beside ${RECORDINGS} recordings that always wait`,
        heads: [...heads, 'clips of recordings per s'],
        rows: mixed.map((found) => [...liveRow(found), figure(found.clipsPerSecond, 1)]),
      },
      await measureQwenBatches(rounds),
    ],
    notes: [
      'A final that comes in the middle of a run waits for its end, whoever it is for: the run of a batch of ' +
        'recordings is the longest of them.',
      'On a CPU a row more takes a row’s time more, so that nothing is gained by sharing: there runs are not shared.',
      `The scheduler itself took ${figure(mean(busy.map(({ cpuUs }) => cpuUs)))} µs of CPU time for each reading, ` +
        'the pretend recogniser included.',
    ],
    goals: [
      {
        goal: `at most 16 rows: ${GAIN_MIN} times the readings of one`,
        found: `${figure(gain, 1)} times`,
        met: gain >= GAIN_MIN,
      },
    ],
  };
}

interface Busy {
  readonly batchMax: number;
  /** Of a run of the decoder, the mean. */
  readonly rows: number;
  readonly perSecond: number;
  readonly tookMs: readonly number[];
  readonly cpuUs: number;
}

interface Live {
  readonly batchMax: number;
  readonly rows: number;
  readonly finalMs: readonly number[];
  readonly partials: number;
  readonly partialsInTime: number;
  readonly clipsPerSecond: number;
}

function liveRow({ batchMax, rows, finalMs, partials, partialsInTime }: Live): string[] {
  const share = `${figure((100 * partialsInTime) / partials)} %`;
  const times = [mean(finalMs), quantile(finalMs, 0.95), quantile(finalMs, 1)].map((ms) => figure(ms));
  return [String(batchMax), figure(rows, 1), ...times, share];
}

function costText({ fixedMs, rowMs }: typeof ENCODER): string {
  return `${fixedMs} ms and ${rowMs} ms for each row`;
}

/** Every track has a new reading as soon as the last one is done. */
async function keepBusy(batchMax: number, seconds: number): Promise<Busy> {
  const bench = new Simulation(batchMax);
  const tookMs: number[] = [];
  const next = (): void =>
    bench.read('final', { dueInMs: FINAL_DUE_MS, askedMs: bench.nowMs() }, (outcome) => {
      if (outcome.isDone) tookMs.push(outcome.tookMs);
      if (bench.nowMs() < seconds * 1000) next();
    });
  for (let track = 0; track < TRACKS; track++) bench.at(0, next);
  const begun = process.cpuUsage();
  await bench.play();
  const { user, system } = process.cpuUsage(begun);
  const perSecond = (tookMs.length * 1000) / bench.nowMs();
  return { batchMax, rows: bench.meanRows, perSecond, tookMs, cpuUs: (user + system) / tookMs.length };
}

interface Load {
  readonly seconds: number;
  readonly calls: number;
  readonly recordings: number;
}

/** Calls in real time, and recordings of which there is always another one. */
async function serveCalls(batchMax: number, { seconds, calls, recordings }: Load): Promise<Live> {
  const bench = new Simulation(batchMax);
  const random = uniform(1);
  const finalMs: number[] = [];
  let [partials, partialsInTime, clips] = [0, 0, 0];
  const endMs = seconds * 1000;
  for (let call = 0; call < calls; call++) {
    for (let atMs = random() * PARTIAL_EVERY_MS; atMs < endMs; atMs += PARTIAL_EVERY_MS * (0.5 + random())) {
      bench.at(atMs, (askedMs) =>
        bench.read('partial', { dueInMs: PARTIAL_DUE_MS, askedMs }, ({ isDone }) => (partialsInTime += Number(isDone))),
      );
      partials++;
    }
    for (let atMs = random() * FINAL_EVERY_MS; atMs < endMs; atMs += FINAL_EVERY_MS * (0.5 + random()))
      bench.at(atMs, (askedMs) =>
        bench.read('final', { dueInMs: FINAL_DUE_MS, askedMs }, ({ tookMs }) => finalMs.push(tookMs)),
      );
  }
  const readClip = (): void =>
    bench.read('batch', { dueInMs: endMs, askedMs: bench.nowMs() }, () => {
      clips++;
      if (bench.nowMs() < endMs) readClip();
    });
  for (let recording = 0; recording < recordings; recording++) bench.at(0, readClip);
  await bench.play();
  const clipsPerSecond = (clips * 1000) / bench.nowMs();
  return { batchMax, rows: bench.meanRows, finalMs, partials, partialsInTime, clipsPerSecond };
}
