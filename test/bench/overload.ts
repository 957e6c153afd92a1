/** What becomes of many calls, and of those who call meanwhile, when a machine loses a part of its CPU for a while. */
import { spawn } from 'node:child_process';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway, usageOf } from '../helpers/gateway.ts';
import { conversationOf, type OverloadCallers, type OverloadOrder } from './overload-callers.ts';
import { missingWords, type ReferenceFinal, type ToldStretch } from './overload-judge.ts';
import { figure, quantile, type Report } from './report.ts';
import { starve } from './starved.ts';

const CONVERSATIONS = 8;
const { ENDPOINT_CAPTIONS_MS, POST_ROLL_MS, LIVE_LAG_MAX_MS } = readSettings({});
/** Finals later than this are not in time; `lag.started` says the same. */
const LATE_MS = 1000;
const GOAL_RECOVERY_S = 10;
/** A tick of a call, and what sockets take. */
const CEILING_SLACK_MS = 2000;

interface OverloadOptions {
  readonly lines: number;
  /** The share of CPU time that is taken away, in each run. */
  readonly shares: readonly number[];
  readonly calmSeconds: number;
  readonly starvedSeconds: number;
  readonly afterSeconds: number;
  /** How long each call lasts. */
  readonly callSeconds: number;
}

interface Told {
  readonly event: FeedEvent;
  readonly atMs: number;
}

interface Run {
  readonly share: number;
  readonly callers: OverloadCallers;
  readonly told: readonly Told[];
  /** When CPU was taken away and given back, in ms since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Cores that gateway and engines used before and meanwhile. */
  readonly calmCores: number;
  readonly starvedCores: number;
}

/** Runs the benchmark. */
export async function benchOverload(options: OverloadOptions): Promise<Report> {
  const reference = await calmFinals(options);
  const runs: Run[] = [];
  for (const share of options.shares) {
    process.stderr.write(`${100 * share} % of the CPU taken away\n`);
    runs.push(await starvedRun(share, options));
  }
  return report(runs, reference, options);
}

/** The finals of each conversation while few call. */
async function calmFinals({ callSeconds }: OverloadOptions): Promise<ReferenceFinal[][]> {
  const gateway = await startGateway({ LOG_LEVEL: 'info', LIVE_LAG_MAX_MS: '60000' });
  const { told, close } = await listen(gateway);
  const order = { url: gateway.url, lines: CONVERSATIONS / 2, seconds: callSeconds, beginForSeconds: callSeconds + 1 };
  await call({ ...order, conversations: CONVERSATIONS });
  await ended(told);
  close();
  await gateway.stop();
  return Array.from({ length: CONVERSATIONS }, (_, conversation) => {
    const [first] = callIds(told).filter((id) => conversationOf(id) === conversation);
    return told.flatMap(({ event }) =>
      event.type === 'caption' && event.final && event.callId === first
        ? { startMs: event.startMs, endMs: event.endMs, words: event.text.split(' ').length }
        : [],
    );
  });
}

async function starvedRun(share: number, options: OverloadOptions): Promise<Run> {
  const { lines, calmSeconds, starvedSeconds, afterSeconds, callSeconds } = options;
  const gateway = await startGateway({ LOG_LEVEL: 'info', MAX_CALLS: String(lines) });
  const { told, close } = await listen(gateway);
  const pids = (): number[] => [gateway.pid, ...gateway.enginePids()];
  const calling = call({
    url: gateway.url,
    lines,
    conversations: CONVERSATIONS,
    seconds: callSeconds,
    beginForSeconds: calmSeconds + starvedSeconds + afterSeconds,
  });
  await sleep(systemClock, (calmSeconds * 1000) / 2);
  const calmCores = await coresOver(pids, (calmSeconds * 1000) / 2);
  const fromMs = systemClock.wall().getTime();
  const giveBack = starve(pids, share);
  const starvedCores = await coresOver(pids, starvedSeconds * 1000).finally(giveBack);
  const toMs = systemClock.wall().getTime();
  const callers = await calling;
  await ended(told);
  close();
  await gateway.stop();
  return { share, callers, told, fromMs, toMs, calmCores, starvedCores };
}

async function coresOver(pids: () => readonly number[], durationMs: number): Promise<number> {
  const used = (): number => pids().reduce((sum, pid) => sum + usageOf(pid).cpuSeconds, 0);
  const [before, startedMs] = [used(), systemClock.nowMs()];
  await sleep(systemClock, durationMs);
  return ((used() - before) * 1000) / (systemClock.nowMs() - startedMs);
}

async function listen(gateway: GatewayProcess): Promise<{ told: readonly Told[]; close: () => void }> {
  const told: Told[] = [];
  const feed = await readFeed(gateway.url);
  const note = (event: FeedEvent): boolean => {
    told.push({ event, atMs: systemClock.wall().getTime() });
    return false;
  };
  // It rejects when the feed is closed, which is its end.
  feed.until(note).catch(() => undefined);
  return { told, close: () => feed.close() };
}

const callIds = (told: readonly Told[]): string[] =>
  told.flatMap(({ event }) => (event.type === 'call.started' ? event.callId : []));

/** Until every call has told of its end. */
async function ended(told: readonly Told[]): Promise<void> {
  for (;;) {
    const ends = told.filter(({ event }) => event.type === 'call.ended').length;
    if (ends === callIds(told).length) return;
    await sleep(systemClock, 200);
  }
}

async function call(order: OverloadOrder): Promise<OverloadCallers> {
  const script = packagePath('test', 'bench', 'overload-callers.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => said.push(data));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`the callers ended with ${code}`);
  return JSON.parse(Buffer.concat(said).toString()) as OverloadCallers;
}

/** Ms from the end of speech to each final, beyond the silence that ends it, and when it came. */
function finalsOf(told: readonly Told[]): { readonly lateMs: number; readonly atMs: number }[] {
  return told.flatMap(({ event, atMs }) =>
    event.type === 'caption' && event.final ? { lateMs: event.lagMs + POST_ROLL_MS - ENDPOINT_CAPTIONS_MS, atMs } : [],
  );
}

const gapsOf = (told: readonly Told[]) => told.filter(({ event }) => event.type === 'gap');

function missingOf({ told }: Run, reference: readonly ReferenceFinal[][]): number {
  let words = 0;
  for (const id of callIds(told)) {
    const of = told.flatMap(({ event }) => (event.callId === id ? event : []));
    const end = of.find((event) => event.type === 'call.ended');
    const stretches = of.filter(
      (event): event is Extract<FeedEvent, ToldStretch> =>
        event.type === 'gap' || (event.type === 'caption' && event.final),
    );
    const untilMs = end?.type === 'call.ended' ? end.durationMs : 0;
    words += missingWords(reference[conversationOf(id)] ?? [], stretches, untilMs);
  }
  return words;
}

/** Seconds from the CPU's return to the last sign of overload: a late final, a gap, a refusal. */
function recoverySeconds({ told, callers, toMs }: Run): number {
  const signs = [
    ...finalsOf(told).flatMap(({ lateMs, atMs }) => (lateMs > LATE_MS ? atMs : [])),
    ...gapsOf(told).map(({ atMs }) => atMs),
    ...callers.refusedAtMs,
  ];
  return Math.max(0, ...signs.map((atMs) => (atMs - toMs) / 1000));
}

function rowOf(run: Run, reference: readonly ReferenceFinal[][]): readonly (string | number)[] {
  const { share, told, callers, fromMs, toMs, calmCores, starvedCores } = run;
  const finals = finalsOf(told);
  const meanwhile = finals.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ lateMs }) => lateMs);
  const gaps = gapsOf(told).flatMap(({ event }) => (event.type === 'gap' ? event.endMs - event.startMs : []));
  return [
    `${100 * share} %`,
    `${figure(calmCores, 2)} → ${figure(starvedCores, 2)}`,
    callers.placed,
    callers.refusedAtMs.length,
    finals.length,
    figure(quantile(meanwhile, 0.5)),
    figure(quantile(meanwhile, 0.95)),
    figure(worstLagMs(run)),
    gaps.length,
    figure(gaps.reduce((sum, ms) => sum + ms, 0) / 1000),
    missingOf(run, reference),
    figure(recoverySeconds(run), 1),
  ];
}

/** From the last sound of a final to its coming, at the worst. */
function worstLagMs({ told }: Run): number {
  return Math.max(...told.map(({ event }) => (event.type === 'caption' && event.final ? event.lagMs : 0)));
}

function report(runs: readonly Run[], reference: readonly ReferenceFinal[][], options: OverloadOptions): Report {
  const { lines, calmSeconds, starvedSeconds, afterSeconds, callSeconds } = options;
  const missing = runs.reduce((sum, run) => sum + missingOf(run, reference), 0);
  const recovery = Math.max(...runs.map(recoverySeconds));
  const worstMs = Math.max(...runs.map(worstLagMs));
  const ceilingMs = LIVE_LAG_MAX_MS + CEILING_SLACK_MS;
  return {
    name: 'overload',
    about:
      `${lines} lines, each with one call of ${callSeconds} s after the other, 45 % human speech: ${calmSeconds} s ` +
      `with the whole CPU, ${starvedSeconds} s with less, ${afterSeconds} s with all again. A part of the CPU is ` +
      'taken away as the quota of a container does: gateway and engines are stopped (SIGSTOP) for that share of each ' +
      '100 ms; that works for root and for anybody else. The callers go on. Who is refused tries again after 1 s; ' +
      `MAX_CALLS is ${lines}, so a place that is not free when somebody hung up is a refusal.`,
    tables: [
      {
        title: 'What becomes of the calls',
        heads: [
          'CPU taken away',
          'cores used, before → meanwhile',
          'calls',
          'refused',
          'finals heard',
          'final late meanwhile p50, ms',
          'p95',
          'lag at the worst, ms',
          'gaps told',
          's of them',
          'words missing without a gap',
          'recovery, s',
        ],
        rows: runs.map((run) => rowOf(run, reference)),
      },
    ],
    notes: [
      'Words are missing where a call has neither a final nor a gap over a stretch in which the same call on a calm ' +
        'machine has a final with words, by the time they take.',
      `Recovery: from the CPU's return to the last final more than ${LATE_MS} ms late, gap or refusal.`,
      'Finals are late from the end of speech, beyond the endpoint silence; lag counts from the last sound used.',
    ],
    goals: [
      { goal: 'no word is missing without a gap', found: `${missing}`, met: missing === 0 },
      {
        goal: `recovery ≤ ${GOAL_RECOVERY_S} s`,
        found: `${figure(recovery, 1)} s`,
        met: recovery <= GOAL_RECOVERY_S,
      },
      {
        goal: `no final is later than LIVE_LAG_MAX_MS and ${CEILING_SLACK_MS / 1000} s`,
        found: `${figure(worstMs)} ms`,
        met: worstMs <= ceilingMs,
      },
    ],
  };
}
