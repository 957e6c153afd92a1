/** What live calls feel of recordings: six calls alone, then the same with long recordings queued all the time. */

import { lagsOf } from '../../src/cli/latencies.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { SETTINGS } from '../../src/foundation/settings/settings.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, metricValue, startGateway, usageOf } from '../helpers/gateway.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { BareModels } from './floor-stages.ts';
import { loadPrompts } from './prompts.ts';
import { recordingOf, sendRecording } from './recordings.ts';
import { figure, quantile, type Report } from './report.ts';
import { runCallers } from './run-callers.ts';
import { toEngineRate } from './whole-recordings.ts';

const CALLS = 6;
const RECORDINGS = 20;
const RATIO_MAX = 1.25;
const ENDPOINT_CAPTIONS_MS = Number(SETTINGS.ENDPOINT_CAPTIONS_MS.defaultText);
/** Longest piece of a recording, so what the longest model run is about. */
const PIECE_SECONDS = 10;
const RUN_ROUNDS = 5;
/** Audio of each recording after which the beginning is over. */
const SETTLED_SECONDS = 5;

/** What a phase is made of. */
interface PhaseOptions {
  readonly name: string;
  readonly calls: number;
  readonly seconds: number;
  /** Is in the gateway so many times, all the time; null = no recordings. */
  readonly recording: Int16Array | null;
  readonly recordings: number;
  /** Of the gateway. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** What callers felt in one phase, and what recordings got. */
export interface Phase {
  readonly name: string;
  readonly lateMs: readonly number[];
  readonly partialLagMs: readonly number[];
  readonly seconds: number;
  readonly cores: number;
  /** Audio of recordings that was transcribed meanwhile. */
  readonly fileSeconds: number;
  readonly meanWaitMs: number;
  readonly partialsDropped: number;
}

/** Runs the benchmark: calls of `seconds`, recordings of `fileSeconds`. */
export async function benchMixed(options: { readonly seconds: number; readonly fileSeconds: number }): Promise<Report> {
  const { samples } = recordingOf(loadPrompts(), options.fileSeconds);
  const longestRunMs = await measureLongestRun(samples);
  const phase = { calls: CALLS, seconds: options.seconds, recordings: RECORDINGS };
  const alone = await runPhase({ ...phase, name: 'calls alone', recording: null });
  const mixed = await runPhase({ ...phase, name: `with ${RECORDINGS} recordings queued`, recording: samples });
  return report({ alone, mixed, longestRunMs }, options);
}

/**
 * Ms of the longest single model run that a recording brings with it: one of the encoder's, on a piece of full length.
 */
async function measureLongestRun(recording: Int16Array): Promise<number> {
  const models = await BareModels.load();
  const piece = toEngineRate(recording.subarray(0, PIECE_SECONDS * LINE_RATE_HZ));
  let shortestMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < RUN_ROUNDS; round++)
    shortestMs = Math.min(shortestMs, (await models.transcribe(piece)).longestMs);
  return shortestMs;
}

/** Simulated Twilio calls to a gateway of their own, alone or beside recordings. */
export async function runPhase({ name, calls, seconds, recording, ...more }: PhaseOptions): Promise<Phase> {
  const gateway = await startGateway(more.environment);
  await ready(gateway.url);
  const feed = await readFeed(gateway.url);
  const queue = recording === null ? null : keepQueued(gateway.url, recording, more.recordings);
  if (queue !== null) await Promise.race([settled(gateway, more.recordings), queue.ended]);
  const pids = [gateway.pid, ...gateway.enginePids()];
  const cpuSeconds = () => pids.reduce((sum, pid) => sum + usageOf(pid).cpuSeconds, 0);
  const before = { cpu: cpuSeconds(), page: await gateway.metrics(), ms: performance.now() };
  await runCallers({ url: gateway.url, calls, seconds });
  const took = (performance.now() - before.ms) / 1000;
  const page = await gateway.metrics();
  const cores = (cpuSeconds() - before.cpu) / took;
  const grown = (sample: string) => metricValue(page, sample) - (metricValue(before.page, sample) || 0);
  const jobs = grown('trunkline_lane_wait_seconds_count{lane="batch"}');
  const { lateMs, partialLagMs } = lagsOf(feed.events, readSettings({}));
  process.stderr.write(`${name}: partial lag p95 ${figure(quantile(partialLagMs, 0.95))} ms\n`);
  feed.close();
  queue?.stop();
  await gateway.stop('SIGKILL');
  await queue?.ended;
  const meanWaitMs = (1000 * grown('trunkline_lane_wait_seconds_sum{lane="batch"}')) / jobs;
  const fileSeconds = grown('trunkline_file_audio_seconds_total');
  const partialsDropped = grown('trunkline_partials_dropped_total');
  return { name, lateMs, partialLagMs, seconds: took, cores, fileSeconds, meanWaitMs, partialsDropped };
}

/** Uploads are over and pieces of all recordings are being transcribed. */
async function settled(gateway: GatewayProcess, recordings: number): Promise<void> {
  const isUnderWay = async () =>
    metricValue(await gateway.metrics(), 'trunkline_file_audio_seconds_total') > recordings * SETTLED_SECONDS;
  while (!(await isUnderWay())) await new Promise((resolve) => setTimeout(resolve, 200));
}

async function ready(url: string): Promise<void> {
  while ((await fetch(`${url}/ready`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
}

/**
 * Keeps so many `recordings` in the gateway until it is stopped: whenever one is done, the next is sent. `ended` fails
 * when one was refused before.
 */
function keepQueued(
  url: string,
  samples: Int16Array,
  recordings: number,
): { readonly ended: Promise<unknown>; stop(): void } {
  let isStopped = false;
  const lines = Array.from({ length: recordings }, async () => {
    try {
      while (!isStopped) await sendRecording(url, samples);
    } catch (error) {
      // Those in work when the gateway is ended fail, as they should.
      if (!isStopped) throw error;
    }
  });
  const ended = Promise.all(lines);
  ended.catch(() => undefined);
  return {
    ended,
    stop() {
      isStopped = true;
    },
  };
}

interface Found {
  readonly alone: Phase;
  readonly mixed: Phase;
  readonly longestRunMs: number;
}

function report(
  { alone, mixed, longestRunMs }: Found,
  { seconds, fileSeconds }: { seconds: number; fileSeconds: number },
): Report {
  const phases = [alone, mixed];
  const partialRatio = quantile(mixed.partialLagMs, 0.95) / quantile(alone.partialLagMs, 0.95);
  const finalRatio = finalLagMs(mixed, 0.95) / finalLagMs(alone, 0.95);
  const laterMs = finalLagMs(mixed, 1) - finalLagMs(alone, 1);
  const coresForFiles = mixed.cores - alone.cores;
  const perCore = coresForFiles > 0 ? mixed.fileSeconds / mixed.seconds / coresForFiles : Number.NaN;
  return {
    name: 'mixed',
    about:
      `${CALLS} simulated Twilio calls in real time, 45 % human speech, ${seconds} s, the same ones both times: ` +
      `alone, and while ${RECORDINGS} recordings of ${fileSeconds} s are ` +
      "in the gateway all the time. The callers run on the same machine. A final's lag is counted from the end of " +
      'speech, so the endpoint silence of ' +
      `${ENDPOINT_CAPTIONS_MS} ms is in it; a partial's from the arrival of the last audio that it heard.`,
    tables: [
      {
        title: 'What callers feel',
        heads: [
          'phase',
          'finals',
          'final lag p50, ms',
          'p95',
          'p99',
          'most',
          'partials',
          'partial lag p50, ms',
          'p95',
          'p99',
          'partials dropped',
        ],
        rows: phases.map((phase) => [
          phase.name,
          phase.lateMs.length,
          ...[0.5, 0.95, 0.99, 1].map((share) => figure(finalLagMs(phase, share))),
          phase.partialLagMs.length,
          ...[0.5, 0.95, 0.99].map((share) => figure(quantile(phase.partialLagMs, share))),
          figure(phase.partialsDropped),
        ]),
      },
      {
        title: 'What recordings get',
        heads: ['phase', 'cores in use', 'recordings, × real time', 'mean wait for an engine, ms'],
        rows: phases.map((phase) => [
          phase.name,
          figure(phase.cores, 2),
          figure(phase.fileSeconds / phase.seconds, 1),
          figure(phase.meanWaitMs),
        ]),
      },
    ],
    notes: [
      `What the recordings use beside the calls is ${figure(coresForFiles, 2)} cores: ${figure(perCore, 1)} × real ` +
        'time per core.',
      `The longest of the encoder's runs on a piece of ${PIECE_SECONDS} s takes ${figure(longestRunMs)} ms on the ` +
        'idle machine.',
      'The wait is that of every batch job, pieces and voice detection, from its making to its delivery to an ' +
        'engine. At most two pieces of a recording wait at a time.',
    ],
    goals: [
      {
        goal: `partial lag p95 with recordings ≤ ${RATIO_MAX} × alone`,
        found: `${figure(partialRatio, 2)} ×`,
        met: partialRatio <= RATIO_MAX,
      },
      {
        goal: `final lag p95 with recordings ≤ ${RATIO_MAX} × alone`,
        found: `${figure(finalRatio, 2)} ×`,
        met: finalRatio <= RATIO_MAX,
      },
      {
        goal: 'latest final at most one model run later than alone',
        found: `${figure(laterMs)} ms, run ${figure(longestRunMs)} ms`,
        met: laterMs <= longestRunMs,
      },
    ],
  };
}

/** End of speech → final, in ms. */
export function finalLagMs({ lateMs }: Phase, share: number): number {
  return ENDPOINT_CAPTIONS_MS + quantile(lateMs, share);
}
