/** What the turn model does to calls: when apps get whole turns, which pauses are answers into a sentence, lag. */
import { lagsOf, sumOfMetric } from '../../src/cli/latencies.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { settlesWithin } from '../../src/foundation/settles-within.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway, usageOf } from '../helpers/gateway.ts';
import { TEST_MODELS_DIR } from '../helpers/installed-models.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { placePatiently } from './patient-call.ts';
import { concatenate } from './prompts.ts';
import { figure, quantile, type Table } from './report.ts';
import { runCallers } from './run-callers.ts';
import { ListeningApp } from './turn-app.ts';
import type { TurnCase } from './turn-cases.ts';

const CALLS_AT_ONCE = 6;
const LOOK_MS = 100;
/** A gateway that has no engine by then, or a call that is not over, is told as an error. */
const PATIENCE_MS = 60_000;
/** The pause in the middle of a turn. */
const PAUSE_MS = 700;

/** With and without the turn model; installed voices would make another difference. */
export const MODES = [
  { name: 'off', environment: { TURN_MODEL: 'off', TTS_MODEL: 'flite' } },
  { name: 'smart-turn', environment: { TURN_MODEL: 'smart-turn', TTS_MODEL: 'flite', MODELS_DIR: TEST_MODELS_DIR } },
] as const;
export type Mode = (typeof MODES)[number];

/** What became of the turns of one mode. */
export interface ModeFound {
  readonly mode: string;
  /** Ms from the end of each whole turn to the app's last prompt of it; NaN where there was none. */
  readonly delaysMs: readonly number[];
  /** Turns with a pause: the app got them as so many prompts. */
  readonly parts: readonly number[];
}

interface Gateway {
  readonly gateway: GatewayProcess;
  readonly feed: FeedReader;
  readonly app: ListeningApp;
}

/** Calls whole turns and turns with a pause of 700 ms in the middle. */
export async function measureTurns(mode: Mode, cases: readonly TurnCase[]): Promise<ModeFound> {
  const on = await open(mode);
  const delaysMs: number[] = [];
  const parts: number[] = [];
  const waiting = [...cases.entries()];
  const lines = Array.from({ length: CALLS_AT_ONCE }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, turn] = next;
      const callSid = `CAturn${index}`;
      const startedMs = await place(on, callSid, turn.rest.length === 0 ? turn.samples : withPause(turn));
      const prompts = on.app.promptsOf(callSid);
      const endMs = startedMs + (1000 * turn.speechTo) / LINE_RATE_HZ;
      if (turn.rest.length > 0) parts.push(prompts.length);
      else delaysMs.push((prompts.at(-1)?.atMs ?? Number.NaN) - endMs);
    }
  });
  await Promise.all(lines);
  await close(on);
  return { mode: mode.name, delaysMs, parts };
}

async function open({ environment }: Mode): Promise<Gateway> {
  const app = await ListeningApp.open();
  const gateway = await startGateway({ APP_URL: app.url, MAX_CALLS: '1000', ...environment });
  const patientUntilMs = systemClock.nowMs() + PATIENCE_MS;
  while ((await fetch(`${gateway.url}/ready`)).status !== 200) {
    if (systemClock.nowMs() > patientUntilMs) throw new Error(`no engine was ready within ${PATIENCE_MS} ms`);
    await sleep(systemClock, LOOK_MS);
  }
  return { app, gateway, feed: await readFeed(gateway.url) };
}

async function close({ app, gateway, feed }: Gateway): Promise<void> {
  feed.close();
  await gateway.stop();
  await app.close();
}

/** Ms of the system clock at which the call began; resolves when it has ended. */
async function place({ gateway, feed, app }: Gateway, callSid: string, inbound: Int16Array): Promise<number> {
  const started = feed
    .until((event) => event.type === 'call.started' && event.callId === callSid)
    .then(() => systemClock.nowMs());
  await placePatiently(gateway.url, callSid, inbound);
  const ended = feed.until((event) => event.type === 'call.ended' && event.callId === callSid);
  if (!(await settlesWithin(systemClock, ended, PATIENCE_MS)))
    throw new Error(`call ${callSid} was not over within ${PATIENCE_MS} ms`);
  await app.told(callSid);
  return started;
}

function withPause({ samples, speechTo, rest }: TurnCase): Int16Array {
  const silence = samples.subarray(speechTo);
  const pause = silence.subarray(0, (PAUSE_MS * LINE_RATE_HZ) / 1000);
  return concatenate([samples.subarray(0, speechTo), pause, rest, silence]);
}

/** The turns of both modes as a table. */
export function turnTable(found: readonly ModeFound[]): Table {
  return {
    title: `In calls: whole turns, and turns with a pause of ${PAUSE_MS} ms behind a word`,
    heads: [
      'TURN_MODEL',
      'whole turns',
      'of them without a prompt',
      'end of speech → prompt p50, ms',
      'p95',
      'with a pause',
      'one prompt',
    ],
    rows: found.map(({ mode, delaysMs, parts }) => {
      const told = delaysMs.filter(Number.isFinite);
      return [
        mode,
        delaysMs.length,
        delaysMs.length - told.length,
        figure(quantile(told, 0.5)),
        figure(quantile(told, 0.95)),
        parts.length,
        `${figure((100 * parts.filter((count) => count === 1).length) / parts.length)} %`,
      ];
    }),
  };
}

/** The lag of captions in many calls at once. */
export interface LoadFound {
  readonly mode: string;
  readonly lateMs: readonly number[];
  readonly partialLagMs: readonly number[];
  readonly asked: number;
  readonly late: number;
  readonly engineCores: number;
  readonly engineRssMb: number;
}

/** Places `calls` calls at once, all with an app. */
export async function measureLoad(mode: Mode, calls: number, seconds: number): Promise<LoadFound> {
  const on = await open(mode);
  const { gateway, feed } = on;
  const pids = gateway.enginePids();
  const cpu = () => pids.reduce((sum, pid) => sum + usageOf(pid).cpuSeconds, 0);
  const before = cpu();
  await runCallers({ url: gateway.url, calls, seconds });
  const used = cpu() - before;
  const engineRssMb = Math.max(...pids.map((pid) => usageOf(pid).rssBytes / 1e6));
  const page = await gateway.metrics();
  await close(on);
  const { POST_ROLL_MS, ENDPOINT_MS } = readSettings({});
  const { lateMs, partialLagMs } = lagsOf(feed.events, { POST_ROLL_MS, ENDPOINT_CAPTIONS_MS: ENDPOINT_MS });
  return {
    mode: mode.name,
    lateMs,
    partialLagMs,
    asked: sumOfMetric(page, 'trunkline_turn_answers_total'),
    late: sumOfMetric(page, 'trunkline_turn_answers_total{answer="late"}'),
    engineCores: used / seconds,
    engineRssMb,
  };
}

/** The lag with and without the model. */
export function loadTable(found: readonly LoadFound[], calls: number): Table {
  return {
    title: `${calls} calls at once`,
    heads: [
      'TURN_MODEL',
      'finals',
      'late p50, ms',
      'p95',
      'partials p95, ms',
      'asked',
      'too late',
      'engine cores',
      'engine RSS, MB',
    ],
    rows: found.map(({ mode, lateMs, partialLagMs, asked, late, engineCores, engineRssMb }) => [
      mode,
      lateMs.length,
      figure(quantile(lateMs, 0.5)),
      figure(quantile(lateMs, 0.95)),
      figure(quantile(partialLagMs, 0.95)),
      asked,
      late,
      figure(engineCores, 2),
      figure(engineRssMb),
    ]),
  };
}
