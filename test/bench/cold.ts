/**
 * The first words after the engines were stopped (ENGINE_IDLE_MS), beside those with engines that are there: of a call,
 * of a Realtime session, of a recording.
 */
import { loadAudio } from '../../src/cli/audio-file.ts';
import { LatencyMeter } from '../../src/cli/latencies.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { msToSamples } from '../../src/foundation/units.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { BENCH_CARRIERS } from './carriers.ts';
import { openCallFeed } from './listen-feed.ts';
import { REALTIME } from './listen-sockets.ts';
import { concatenate } from './prompts.ts';
import { sendRecording } from './recordings.ts';
import { figure, quantile, type Report } from './report.ts';

/** As short as can be: each round waits for it. */
const IDLE_MS = 1000;
/** Silence behind the sentence, in which its final comes. */
const TAIL_MS = 3000;
/** A caller hears a greeting for so long before he speaks. */
const GREETING_MS = 2000;
const LATER_MAX_MS = 100;

/** Somebody who comes, and how long his first text takes, in ms. */
interface Comer {
  readonly label: string;
  come(gateway: GatewayProcess, sentence: Int16Array): Promise<number>;
}

const COMERS: readonly Comer[] = [
  { label: 'call, who speaks at once: start of speech to first caption', come: callAfter(0) },
  { label: 'call, who speaks after a greeting of 2 s: the same', come: callAfter(GREETING_MS) },
  { label: 'Realtime session: end of speech to its text', come: listen },
  { label: 'recording of 2.7 s: request to answer', come: transcribe },
];

interface Row {
  readonly label: string;
  readonly coldMs: number[];
  readonly warmMs: number[];
}

/** Runs the benchmark, `rounds` times each. */
export async function benchCold({ rounds }: { readonly rounds: number }): Promise<Report> {
  const gateway = await startGateway({ ENGINE_IDLE_MS: String(IDLE_MS) });
  try {
    const file = packagePath('fixtures', 'audio', 'short.wav');
    const [sentence = new Int16Array(0)] = await loadAudio(file, LINE_RATE_HZ, 'mix');
    const rows = COMERS.map(({ label }) => ({ label, coldMs: [] as number[], warmMs: [] as number[] }));
    for (let round = 0; round < rounds; round++)
      for (const [at, { label, come }] of COMERS.entries()) {
        await untilStopped(gateway);
        rows[at]?.coldMs.push(await come(gateway, sentence));
        rows[at]?.warmMs.push(await come(gateway, sentence));
        process.stderr.write(`${label}: cold ${figure(rows[at]?.coldMs.at(-1) ?? Number.NaN)} ms\n`);
      }
    const page = await gateway.metrics();
    const loadMs =
      (1000 * metricValue(page, 'trunkline_engine_start_seconds_sum')) /
      metricValue(page, 'trunkline_engine_start_seconds_count');
    return report(rows, { rounds, loadMs });
  } finally {
    await gateway.stop();
  }
}

async function untilStopped(gateway: GatewayProcess): Promise<void> {
  while (gateway.enginePids().length > 0) await sleep(systemClock, 100);
}

function callAfter(waitMs: number): Comer['come'] {
  return async ({ url }, sentence) => {
    const feed = await readFeed(url);
    const meter = new LatencyMeter(readSettings({}));
    const silence = (ms: number) => new Int16Array(msToSamples(ms, LINE_RATE_HZ));
    const audio = concatenate([silence(waitMs), sentence, silence(TAIL_MS)]);
    const { id, ended } = BENCH_CARRIERS.twilio.place({ url, environment: {}, audio });
    const found = feed.until((event) => {
      if (event.callId === id) meter.note(event, systemClock.nowMs());
      return event.callId === id && event.type === 'call.ended';
    });
    await Promise.all([ended, found]);
    feed.close();
    return meter.latencies.firstPartial[0] ?? Number.NaN;
  };
}

async function listen({ url }: GatewayProcess, sentence: Int16Array): Promise<number> {
  const feed = await openCallFeed(url);
  const audio = concatenate([sentence, new Int16Array(msToSamples(TAIL_MS, LINE_RATE_HZ))]);
  const [first] = await REALTIME.hear({ url, sipPort: 0, feed }, [audio]);
  feed.close();
  return first === undefined ? Number.NaN : first.arrivedMs - (first.endMs ?? Number.NaN);
}

async function transcribe({ url }: GatewayProcess, sentence: Int16Array): Promise<number> {
  const askedMs = systemClock.nowMs();
  await sendRecording(url, sentence);
  return systemClock.nowMs() - askedMs;
}

function report(rows: readonly Row[], { rounds, loadMs }: { rounds: number; loadMs: number }): Report {
  const laterMs = ({ coldMs, warmMs }: Row) => quantile(coldMs, 0.5) - quantile(warmMs, 0.5);
  const [, greeted] = rows;
  const greetedMs = greeted === undefined ? Number.NaN : laterMs(greeted);
  return {
    name: 'cold',
    about:
      `A gateway whose engines stop after ${IDLE_MS / 1000} s without work. Each of these comes when they are ` +
      'stopped, and once more at once. The engines are started by the first sign: the handshake of a call or ' +
      'session, the beginning of an upload.',
    tables: [
      {
        title: 'The first text, in ms',
        heads: ['', 'engines stopped, median', 'most', 'engines there, median', 'later by', 'rounds'],
        rows: rows.map((row) => [
          row.label,
          figure(quantile(row.coldMs, 0.5)),
          figure(Math.max(...row.coldMs)),
          figure(quantile(row.warmMs, 0.5)),
          figure(laterMs(row)),
          rounds,
        ]),
      },
    ],
    notes: [`An engine took ${figure(loadMs)} ms to load and warm its models, on average, all of them at once.`],
    goals: [
      {
        goal: `A caller who hears a greeting first has captions at most ${LATER_MAX_MS} ms later`,
        found: `${figure(greetedMs)} ms`,
        met: greetedMs <= LATER_MAX_MS,
      },
    ],
  };
}
