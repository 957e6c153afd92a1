/**
 * What recording costs: calls that are recorded beside as many that are not, in turns in one run of one gateway, whose
 * engines make tones, so that nothing but the gateway works.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { type GatewayProcess, metricValue, startGateway, usageOf } from '../helpers/gateway.ts';
import { loadPrompts, promptConversation } from './prompts.ts';
import { figure, type Report } from './report.ts';

const SPEECH_SHARE = 0.45;
const STAGGER_MS = 61;
/** Each call is talked to that often. */
const SAY_MS = 3000;
const SECONDS_PER_HOUR = 3600;
const TONES = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };
/** Beside some 30 of the gateway itself for an hour of a call, and 300 of the engines. */
const CPU_MORE_MAX = 5;

/** What a round cost. */
interface Round {
  readonly recorded: boolean;
  readonly cpuSeconds: number;
  readonly lagP99Ms: number;
  readonly bytes: number;
}

interface SoundBenchOptions {
  readonly calls: number;
  readonly seconds: number;
  /** Of each kind. */
  readonly rounds: number;
}

/** Runs the benchmark. */
export async function benchSound(options: SoundBenchOptions): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  const gateway = await startGateway({ ...TONES, DATA_DIR: folder, MAX_CALLS: '100', RECORD_KEY: '5a'.repeat(32) });
  const rounds: Round[] = [];
  // Made before: the phones share a process, and their work would hold up each other's frames.
  const prompts = loadPrompts();
  const said = Array.from({ length: options.calls }, (_, index) =>
    promptConversation(prompts, options.seconds, SPEECH_SHARE, 1000 + index),
  );
  try {
    // The first calls load code and fill caches.
    await runRound(gateway, said.slice(0, 2), true);
    for (let n = 0; n < 2 * options.rounds; n++) rounds.push(await runRound(gateway, said, n % 2 === 1));
  } finally {
    await gateway.stop();
    rmSync(folder, { recursive: true });
  }
  return report(rounds, options);
}

async function runRound(gateway: GatewayProcess, said: readonly Int16Array[], recorded: boolean): Promise<Round> {
  // Reading the metrics begins a new window of the event loop's figures.
  const before = await gateway.metrics();
  const cpuBefore = usageOf(gateway.pid).cpuSeconds;
  await Promise.all(said.map((inbound, index) => placeOne(gateway.url, { inbound, index, recorded })));
  const cpuSeconds = usageOf(gateway.pid).cpuSeconds - cpuBefore;
  const after = await gateway.metrics();
  const written = 'trunkline_sound_written_bytes_total';
  return {
    recorded,
    cpuSeconds,
    lagP99Ms: 1000 * metricValue(after, 'nodejs_eventloop_lag_p99_seconds'),
    bytes: metricValue(after, written) - metricValue(before, written),
  };
}

async function placeOne(
  url: string,
  { inbound, index, recorded }: { readonly inbound: Int16Array; readonly index: number; readonly recorded: boolean },
): Promise<void> {
  await sleep(systemClock, index * STAGGER_MS);
  const caller = new TwilioCaller({
    url: `${url.replace(/^http/, 'ws')}/twilio/media`,
    tracks: { inbound },
    pace: 'realtime',
    clock: systemClock,
    parameters: recorded ? { record: 'both' } : {},
  });
  let isOver = false;
  const ended = caller.run().finally(() => {
    isOver = true;
  });
  for (let turn = 0; !isOver; turn++) {
    await Promise.race([sleep(systemClock, SAY_MS), ended]);
    if (!isOver) await say(url, caller.callSid, `This is answer number ${turn % 5} of the gateway.`);
  }
  await ended;
}

async function say(url: string, id: string, text: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await fetch(`${url}/v1/calls/${id}/say`, { method: 'POST', headers, body: JSON.stringify({ text }) });
}

function report(rounds: readonly Round[], { calls, seconds }: SoundBenchOptions): Report {
  const callHours = (calls * seconds) / SECONDS_PER_HOUR;
  const [plain, recorded] = [false, true].map((kind) => rounds.filter((round) => round.recorded === kind));
  const cpu = (of: readonly Round[] = []): number => median(of.map(({ cpuSeconds }) => cpuSeconds)) / callHours;
  const lag = (of: readonly Round[] = []): number => median(of.map(({ lagP99Ms }) => lagP99Ms));
  const more = cpu(recorded) - cpu(plain);
  const megabytes = median((recorded ?? []).map(({ bytes }) => bytes)) / callHours / 1e6;
  return {
    name: 'sound',
    about: `${calls} calls at once for ${seconds} s, both sides recorded and encrypted, and the same not recorded.`,
    tables: [
      {
        title: 'Recording',
        heads: ['', 'CPU s for an hour of one call', 'event loop p99, ms', 'MB for an hour of one call'],
        rows: [
          ['not recorded', figure(cpu(plain)), figure(lag(plain)), 0],
          ['recorded', figure(cpu(recorded)), figure(lag(recorded)), figure(megabytes)],
          ['more', figure(more), figure(lag(recorded) - lag(plain)), ''],
        ],
      },
    ],
    notes: [
      'CPU is that of the gateway with all its threads, without engines. Medians of rounds that took turns.',
      `CPU of the rounds, s: ${rounds.map(labelled).join(', ')}`,
    ],
    goals: [
      {
        goal: `recording takes at most ${CPU_MORE_MAX} CPU s more for an hour of one call`,
        found: figure(more),
        met: more <= CPU_MORE_MAX,
      },
    ],
  };
}

function labelled({ recorded, cpuSeconds }: Round): string {
  return `${recorded ? 'recorded' : 'not'} ${figure(cpuSeconds)}`;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
