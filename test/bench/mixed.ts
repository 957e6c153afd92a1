/** What live calls feel of recordings: six calls alone, then the same with long recordings queued all the time. */
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, metricValue, startGateway, usageOf } from '../helpers/gateway.ts';
import { lagsOf, runCallers } from './calls.ts';
import { loadPrompts } from './prompts.ts';
import { recordingOf, sendRecording } from './recordings.ts';
import { figure, quantile, type Report } from './report.ts';

const CALLS = 6;
const RECORDINGS = 20;
const RATIO_MAX = 1.25;
/** Audio of each recording after which the beginning is over. */
const SETTLED_SECONDS = 5;

interface Phase {
  readonly name: string;
  readonly lateMs: readonly number[];
  readonly partialLagMs: readonly number[];
  readonly seconds: number;
  readonly cores: number;
  /** Audio of recordings that was transcribed meanwhile. */
  readonly fileSeconds: number;
  readonly meanWaitMs: number;
}

/** Runs the benchmark: calls of `seconds`, recordings of `fileSeconds`. */
export async function benchMixed(options: { readonly seconds: number; readonly fileSeconds: number }): Promise<Report> {
  const alone = await runPhase('calls alone', options.seconds, null);
  const { samples } = recordingOf(loadPrompts(), options.fileSeconds);
  const mixed = await runPhase(`with ${RECORDINGS} recordings queued`, options.seconds, samples);
  return report([alone, mixed], options);
}

async function runPhase(name: string, seconds: number, recording: Int16Array | null): Promise<Phase> {
  const gateway = await startGateway();
  await ready(gateway.url);
  const feed = await readFeed(gateway.url);
  const queue = recording === null ? null : keepQueued(gateway.url, recording);
  if (queue !== null) await settled(gateway);
  const pids = [gateway.pid, ...gateway.enginePids()];
  const cpuSeconds = () => pids.reduce((sum, pid) => sum + usageOf(pid).cpuSeconds, 0);
  const before = { cpu: cpuSeconds(), page: await gateway.metrics(), ms: performance.now() };
  await runCallers(gateway.url, CALLS, seconds);
  const took = (performance.now() - before.ms) / 1000;
  const page = await gateway.metrics();
  const cores = (cpuSeconds() - before.cpu) / took;
  const grown = (sample: string) => metricValue(page, sample) - (metricValue(before.page, sample) || 0);
  const jobs = grown('trunkline_lane_wait_seconds_count{lane="batch"}');
  const { lateMs, partialLagMs } = lagsOf(feed.events);
  feed.close();
  const unfinished = queue?.stop();
  await gateway.stop('SIGKILL');
  await unfinished;
  const meanWaitMs = (1000 * grown('trunkline_lane_wait_seconds_sum{lane="batch"}')) / jobs;
  return { name, lateMs, partialLagMs, seconds: took, cores, fileSeconds: grown('trunkline_file_audio_seconds_total'), meanWaitMs };
}

/** Uploads are over and pieces of all recordings are being transcribed. */
async function settled(gateway: GatewayProcess): Promise<void> {
  const isUnderWay = async () => metricValue(await gateway.metrics(), 'trunkline_file_audio_seconds_total') > RECORDINGS * SETTLED_SECONDS;
  while (!(await isUnderWay())) await new Promise((resolve) => setTimeout(resolve, 200));
}

async function ready(url: string): Promise<void> {
  while ((await fetch(`${url}/ready`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** Keeps {@link RECORDINGS} in the gateway until it is stopped: whenever one is done, the next is sent. */
function keepQueued(url: string, samples: Int16Array): { stop(): Promise<unknown> } {
  let isStopped = false;
  const lines = Array.from({ length: RECORDINGS }, async () => {
    while (!isStopped) await sendRecording(url, samples).catch(() => undefined);
  });
  return {
    stop() {
      isStopped = true;
      return Promise.all(lines);
    },
  };
}

function report(phases: readonly Phase[], { seconds, fileSeconds }: { seconds: number; fileSeconds: number }): Report {
  const [alone, mixed] = phases;
  const ratio = quantile(mixed?.partialLagMs ?? [], 0.95) / quantile(alone?.partialLagMs ?? [], 0.95);
  const lateBy = quantile(mixed?.lateMs ?? [], 0.95) - quantile(alone?.lateMs ?? [], 0.95);
  return {
    name: 'mixed',
    about:
      `${CALLS} simulated Twilio calls in real time, 45 % human speech, ${seconds} s: alone, and while ${RECORDINGS} recordings of ${fileSeconds} s are in the ` +
      'gateway all the time. The callers run on the same machine. "Late" is end of speech → final caption beyond the endpoint silence.',
    tables: [
      {
        title: 'What callers feel',
        heads: ['phase', 'final late p50, ms', 'p95', 'p99', 'partial lag p50, ms', 'p95', 'p99'],
        rows: phases.map(({ name, lateMs, partialLagMs }) => [
          name,
          ...[0.5, 0.95, 0.99].map((share) => figure(quantile(lateMs, share))),
          ...[0.5, 0.95, 0.99].map((share) => figure(quantile(partialLagMs, share))),
        ]),
      },
      {
        title: 'What recordings get',
        heads: ['phase', 'cores in use', 'recordings, × real time', 'mean wait of a piece, ms'],
        rows: phases.map((phase) => [
          phase.name,
          figure(phase.cores, 2),
          figure(phase.fileSeconds / phase.seconds, 1),
          figure(phase.meanWaitMs),
        ]),
      },
    ],
    goals: [
      { goal: `partial lag p95 with recordings ≤ ${RATIO_MAX} × alone`, found: `${figure(ratio, 2)} ×`, met: ratio <= RATIO_MAX },
      { goal: 'final p95 at most one model run (100 ms) later', found: `${figure(lateBy)} ms`, met: lateBy <= 100 },
    ],
  };
}
