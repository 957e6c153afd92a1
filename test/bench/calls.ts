/**
 * How many live calls this machine holds: N simulated calls in real time, N rising until finals come too late.
 * Everything is included.
 */
import { type CaptionLags, lagsOf } from '../../src/cli/latencies.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { readFeed } from '../helpers/feed.ts';
import { metricValue, startGateway, type Usage, usageOf } from '../helpers/gateway.ts';
import { BENCH_CARRIERS, type BenchCarrierName } from './carriers.ts';
import { pacingGoal, pacingTable } from './pacing.ts';
import { figure, quantile, type Report } from './report.ts';
import { runCallers } from './run-callers.ts';
import { linePlot } from './svg.ts';

const STEPS = [2, 6, 10, 14, 20, 28, 40, 50];
const { ENDPOINT_CAPTIONS_MS, POST_ROLL_MS } = readSettings({});
/** The capacity is the last step whose p95 from end of speech to final stays below the endpoint silence plus this. */
const LATE_MS = 300;
const GOAL_CALLS = 10;
const GOAL_LATE_MS = 100;
const GOAL_LOOP_MS = 5;
/** What many calls should still get, p95. */
const MANY = { calls: 20, lateMs: 300, partialMs: 500 };
/** Node's event-loop histogram records the time between two ticks of this period; what is beyond it is delay. */
const LOOP_SAMPLING_MS = 5;

interface Step extends CaptionLags {
  readonly calls: number;
  readonly finals: number;
  readonly partialsDropped: number;
  readonly gatewayCores: number;
  readonly engineCores: number;
  readonly gatewayRssMb: number;
  readonly engineRssMb: number;
  readonly loopP99Ms: number;
  /** Ms between two frames of sound at the caller who is talked to. */
  readonly gapsMs: readonly number[];
}

interface CallsOptions {
  /** How long each step's calls last. */
  readonly seconds: number;
  /** Which numbers of calls are tried. */
  readonly steps?: readonly number[];
  readonly carrier: BenchCarrierName;
}

/** Runs the benchmark. */
export async function benchCalls(options: CallsOptions): Promise<Report> {
  const done: Step[] = [];
  for (const calls of options.steps ?? STEPS) {
    const step = await runStep(calls, options);
    done.push(step);
    process.stderr.write(
      `${calls} calls: final p95 ${signed(quantile(step.lateMs, 0.95))} ms, partial p95 ` +
        `${figure(quantile(step.partialLagMs, 0.95))} ms\n`,
    );
    if (quantile(step.lateMs, 0.95) > LATE_MS) break;
  }
  return report(done, options);
}

/** A gateway of its own for each step, so that no step inherits another's memory or counters. */
async function runStep(calls: number, { seconds, carrier }: CallsOptions): Promise<Step> {
  const environment = await BENCH_CARRIERS[carrier].settings();
  const gateway = await startGateway({
    LOG_LEVEL: 'info',
    MAX_CALLS: '1000',
    EXECUTION_PROVIDER: process.env['EXECUTION_PROVIDER'] ?? 'cpu',
    ...environment,
  });
  const feed = await readFeed(gateway.url);
  const enginePids = gateway.enginePids();
  const before = [usageOf(gateway.pid), sumUsage(enginePids)] as const;
  const startedMs = performance.now();
  const { gapsMs } = await runCallers({ url: gateway.url, environment, carrier, calls, seconds, spokenTo: 1 });
  const wallSeconds = (performance.now() - startedMs) / 1000;
  const after = [usageOf(gateway.pid), sumUsage(enginePids)] as const;
  const page = await gateway.metrics();
  feed.close();
  await gateway.stop();
  const lags = lagsOf(feed.events, { ENDPOINT_CAPTIONS_MS, POST_ROLL_MS });
  return {
    calls,
    gapsMs,
    ...lags,
    finals: lags.lateMs.length + lags.cutLagMs.length,
    partialsDropped: metricValue(page, 'trunkline_partials_dropped_total'),
    gatewayCores: (after[0].cpuSeconds - before[0].cpuSeconds) / wallSeconds,
    engineCores: (after[1].cpuSeconds - before[1].cpuSeconds) / wallSeconds,
    gatewayRssMb: after[0].rssBytes / 1e6,
    engineRssMb: after[1].rssBytes / 1e6 / Math.max(enginePids.length, 1),
    loopP99Ms: metricValue(page, 'nodejs_eventloop_lag_p99_seconds') * 1000 - LOOP_SAMPLING_MS,
  };
}

function sumUsage(pids: readonly number[]): Usage {
  const all = pids.map(usageOf);
  return {
    cpuSeconds: all.reduce((sum, usage) => sum + usage.cpuSeconds, 0),
    rssBytes: all.reduce((sum, usage) => sum + usage.rssBytes, 0),
  };
}

function report(steps: readonly Step[], { seconds, carrier }: CallsOptions): Report {
  const capacity = steps.filter((step) => quantile(step.lateMs, 0.95) <= LATE_MS).at(-1)?.calls ?? 0;
  const goal = steps.find((step) => step.calls === GOAL_CALLS);
  const goalLateMs = goal === undefined ? Number.NaN : quantile(goal.lateMs, 0.95);
  const goalLoopMs = goal?.loopP99Ms ?? Number.NaN;
  const many = steps.find((step) => step.calls === MANY.calls);
  const [manyLateMs, manyPartialMs] = [quantile(many?.lateMs ?? [], 0.95), quantile(many?.partialLagMs ?? [], 0.95)];
  return {
    name: carrier === 'twilio' ? 'calls' : `calls-${carrier}`,
    about:
      `Simulated calls over ${BENCH_CARRIERS[carrier].label} in real time, 45 % human speech, ${seconds} s each ` +
      'step, and one more in which the gateway speaks all ' +
      'the time, everything included: sockets, gateway, engines, and the ' +
      'callers themselves on the same machine. "Late" is end of speech → final caption beyond the endpoint silence ' +
      `of ${ENDPOINT_CAPTIONS_MS} ms. ` +
      `Capacity: **${capacity} calls** (the last step whose p95 is at most ${LATE_MS} ms late).`,
    plots: [
      { name: 'capacity', title: 'Calls against lag', svg: capacityPlot(steps) },
      { name: 'captions', title: 'Captions of each call, by load', svg: captionsPlot(steps, seconds) },
    ],
    tables: [
      {
        title: 'Lag',
        heads: [
          'calls',
          'finals',
          'final late p50, ms',
          'p95',
          'p99',
          'partial lag p50, ms',
          'p95',
          'p99',
          'partials dropped',
          'forced cuts',
          'lag of those p95, ms',
        ],
        rows: steps.map((step) => [
          step.calls,
          step.finals,
          ...[0.5, 0.95, 0.99].map((share) => figure(quantile(step.lateMs, share))),
          ...[0.5, 0.95, 0.99].map((share) => figure(quantile(step.partialLagMs, share))),
          figure(step.partialsDropped),
          step.cutLagMs.length,
          figure(quantile(step.cutLagMs, 0.95)),
        ]),
      },
      {
        title: 'Cost',
        heads: [
          'calls',
          'gateway, cores',
          'engines, cores',
          '% of a core per call',
          'gateway RSS, MB',
          'RSS per engine, MB',
          'event loop p99, ms',
        ],
        rows: steps.map((step) => [
          step.calls,
          figure(step.gatewayCores, 2),
          figure(step.engineCores, 2),
          figure((100 * (step.gatewayCores + step.engineCores)) / step.calls, 1),
          figure(step.gatewayRssMb),
          figure(step.engineRssMb),
          figure(step.loopP99Ms, 1),
        ]),
      },
      pacingTable(steps),
    ],
    goals: [
      { goal: `≥ ${GOAL_CALLS} calls`, found: `${capacity}`, met: capacity >= GOAL_CALLS },
      {
        goal: `final p95 ≤ endpoint silence + ${GOAL_LATE_MS} ms at ${GOAL_CALLS} calls`,
        found: `${signed(goalLateMs)} ms`,
        met: goalLateMs <= GOAL_LATE_MS,
      },
      {
        goal:
          `at ${MANY.calls} calls final p95 ≤ endpoint silence + ${MANY.lateMs} ms, partial lag p95 ≤ ` +
          `${MANY.partialMs} ms`,
        found: `${signed(manyLateMs)} ms, ${figure(manyPartialMs)} ms`,
        met: manyLateMs <= MANY.lateMs && manyPartialMs <= MANY.partialMs,
      },
      {
        goal: `gateway event-loop delay p99 ≤ ${GOAL_LOOP_MS} ms`,
        found: `${figure(goalLoopMs, 1)} ms`,
        met: goalLoopMs <= GOAL_LOOP_MS,
      },
      pacingGoal(goal, GOAL_CALLS),
    ],
  };
}

function capacityPlot(steps: readonly Step[]): string {
  const curve = (name: string, of: (step: Step) => readonly number[]) => ({
    name,
    points: steps.map((step) => [step.calls, quantile(of(step), 0.95)] as const),
  });
  return linePlot({
    title: 'Calls against lag, p95',
    x: { label: 'calls at once' },
    y: { label: 'ms' },
    series: [
      curve('end of speech → final, beyond the endpoint silence', (step) => step.lateMs),
      curve('partial', (step) => step.partialLagMs),
    ],
    limits: [{ name: `finals: ${LATE_MS} ms`, y: LATE_MS }],
  });
}

function captionsPlot(steps: readonly Step[], seconds: number): string {
  const curve = (name: string, of: (step: Step) => number) => ({
    name,
    points: steps.map((step) => [step.calls, (60 * of(step)) / (step.calls * seconds)] as const),
  });
  return linePlot({
    title: 'Captions of each call: under load partials thin out, finals do not',
    x: { label: 'calls at once' },
    y: { label: 'captions per call and minute' },
    series: [curve('partials', (step) => step.partialLagMs.length), curve('finals', (step) => step.finals)],
  });
}

/** With its sign; `–` where nothing was measured. */
function signed(ms: number): string {
  return ms > 0 ? `+${figure(ms)}` : figure(ms);
}
