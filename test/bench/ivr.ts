/** How fast flows answer keys and speech, with many calls at once; and what of their prompts a restart finds. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readWav } from '../../src/audio/wav.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { type GatewayProcess, startGateway, usageOf } from '../helpers/gateway.ts';
import { figure, quantile, type Report } from './report.ts';

const KEY_GOAL_MS = 20;
const ENDPOINT_MS = 400;
const SPEECH_GOAL_MS = ENDPOINT_MS + 150;
/** A caller lets a prompt sound for so long before a key cuts it off. */
const LISTEN_MS = 1200;
const STAGGER_MS = 137;
/** A caller who speaks does so every so often; prompts are over by then. */
const SPEAK_EVERY_MS = 6000;
const WORDS = 'Sales department, please.';
const LOUD = 300;

const FLOW = `version: 1
start: first
limits: {steps: 10000, visits: 1000}
steps:
  first:
    menu:
      prompt: Welcome to the shop. Say sales, or press one.
      timeoutMs: 30000
      choices: {sales: {key: "1", say: [sales department, sales], next: second}}
      noMatch: {prompts: [That is not on our list. Please say sales.], next: second}
  second:
    menu:
      prompt: You are in the second menu. Say sales, or press one.
      timeoutMs: 30000
      choices: {sales: {key: "1", say: [sales department, sales], next: first}}
      noMatch: {prompts: [That is not here. Please say sales.], next: first}
`;

interface Options {
  readonly calls: number;
  /** Keys of each call. */
  readonly keys: number;
  /** What each speaking caller says so often, and how many callers speak, one after the other. */
  readonly turns: number;
}

/** Runs the benchmark. */
export async function benchIvr(options: Options): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-ivr-'));
  writeFileSync(join(folder, 'shop.yaml'), FLOW);
  const environment = { FLOWS_DIR: folder, PROMPT_CACHE_DIR: join(folder, 'cache'), ENDPOINT_MS: `${ENDPOINT_MS}` };
  try {
    const first = await withGateway(environment, async (gateway) => {
      await prepared(gateway);
      const before = cpuOf(gateway);
      const fromMs = systemClock.nowMs();
      const keys = await allCalls(gateway, options);
      const after = cpuOf(gateway);
      const cores = (after - before) / ((systemClock.nowMs() - fromMs) / 1000);
      return { keys, cores, turns: await speakingCall(gateway, options.turns) };
    });
    const again = await withGateway(environment, async (gateway) => {
      await prepared(gateway);
      const keys = await allCalls(gateway, { ...options, keys: 2 });
      return { keys, asked: askedOf(await gateway.metrics()) };
    });
    return report(options, { ...first, again: again.keys, asked: again.asked });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withGateway<T>(
  environment: Readonly<Record<string, string>>,
  run: (gateway: GatewayProcess) => Promise<T>,
): Promise<T> {
  const gateway = await startGateway(environment);
  try {
    return await run(gateway);
  } finally {
    await gateway.stop();
  }
}

/** CPU seconds of the gateway and its engines. */
function cpuOf(gateway: GatewayProcess): number {
  return [gateway.pid, ...gateway.enginePids()].reduce((sum, pid) => sum + usageOf(pid).cpuSeconds, 0);
}

/** Waits until all prompts are there. */
async function prepared({ url }: GatewayProcess): Promise<void> {
  await fetch(`${url}/v1/flow-prompts/render`, { method: 'POST' });
  for (;;) {
    const state = (await (await fetch(`${url}/v1/flow-prompts/render`)).json()) as { isRunning: boolean };
    if (!state.isRunning) return;
    await sleep(systemClock, 200);
  }
}

/** Ms from each key to the first frame of the next prompt. */
async function allCalls(gateway: GatewayProcess, { calls, keys }: Pick<Options, 'calls' | 'keys'>): Promise<number[]> {
  const times = await Promise.all(Array.from({ length: calls }, (_, index) => keyCall(gateway, index, keys)));
  return times.flat();
}

async function keyCall({ url }: GatewayProcess, index: number, keys: number): Promise<number[]> {
  await sleep(systemClock, index * STAGGER_MS);
  const sound = new Waiter();
  const clear = new Waiter();
  const seconds = 20 + (keys * (LISTEN_MS + 1000)) / 1000;
  const caller = new TwilioCaller({
    url: `${url.replace(/^http/, 'ws')}/twilio/media?flow=shop`,
    tracks: { inbound: new Int16Array(msToSamples(seconds * 1000, MULAW_8K.rateHz)) },
    pace: 'realtime',
    clock: systemClock,
    parameters: { flow: 'shop' },
    onAudio: () => sound.tell(),
    onClear: () => clear.tell(),
  });
  const ended = caller.run();
  await Promise.race([sound.next(), ended]);
  const times: number[] = [];
  for (let key = 0; key < keys; key++) {
    await sleep(systemClock, LISTEN_MS);
    const cleared = clear.next();
    const pressedMs = systemClock.nowMs();
    caller.sendDtmf('1');
    await Promise.race([cleared, ended]);
    const atMs = await Promise.race([sound.next(), ended.then(() => Number.NaN)]);
    if (Number.isNaN(atMs)) break;
    times.push(atMs - pressedMs);
  }
  caller.hangup();
  await ended;
  return times;
}

/** Ms from the end of what a caller says to the first frame of what comes next. */
async function speakingCall({ url }: GatewayProcess, turns: number): Promise<number[]> {
  const words = await sayOnce(url);
  const endSample = words.findLastIndex((sample) => Math.abs(sample) > LOUD);
  const every = msToSamples(SPEAK_EVERY_MS, MULAW_8K.rateHz);
  const inbound = new Int16Array(every * (turns + 1));
  for (let turn = 1; turn <= turns; turn++) inbound.set(words, turn * every);
  const times: number[] = [];
  let answered = 0;
  const caller: TwilioCaller = new TwilioCaller({
    url: `${url.replace(/^http/, 'ws')}/twilio/media`,
    tracks: { inbound },
    pace: 'realtime',
    clock: systemClock,
    parameters: { flow: 'shop' },
    onAudio: () => {
      const turn = answered + 1;
      const endMs = ((turn * every + endSample) * 1000) / MULAW_8K.rateHz;
      if (turn > turns || caller.sentMs < endMs) return;
      times.push(caller.sentMs - endMs);
      answered++;
    },
  });
  await caller.run();
  return times;
}

async function sayOnce(url: string): Promise<Int16Array> {
  const answer = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: WORDS, voice: 'slt', response_format: 'wav', sample_rate: MULAW_8K.rateHz }),
  });
  if (!answer.ok) throw new Error(`speech: ${answer.status} ${await answer.text()}`);
  return readWav(new Uint8Array(await answer.arrayBuffer())).channels[0] ?? new Int16Array(0);
}

/** Prompts that were wanted, by where they came from. */
function askedOf(metrics: string): ReadonlyMap<string, number> {
  const found = metrics.matchAll(/^trunkline_prompts_total\{from="(\w+)"\} (\d+)$/gm);
  return new Map([...found].map(([, from = '', count]) => [from, Number(count)]));
}

/** Waits for the next of what happens again and again. */
class Waiter {
  #resolve: ((atMs: number) => void)[] = [];

  tell(): void {
    const atMs = systemClock.nowMs();
    for (const resolve of this.#resolve.splice(0)) resolve(atMs);
  }

  next(): Promise<number> {
    return new Promise((resolve) => this.#resolve.push(resolve));
  }
}

interface Found {
  readonly keys: readonly number[];
  readonly cores: number;
  readonly turns: readonly number[];
  readonly again: readonly number[];
  readonly asked: ReadonlyMap<string, number>;
}

function report({ calls }: Options, { keys, cores, turns, again, asked }: Found): Report {
  const all = [...asked.values()].reduce((sum, count) => sum + count, 0);
  const made = asked.get('engine') ?? 0;
  const hits = all === 0 ? 0 : (all - made) / all;
  const row = (what: string, times: readonly number[]) => [
    what,
    times.length,
    figure(quantile(times, 0.5)),
    figure(quantile(times, 0.95)),
    figure(Math.max(...times)),
  ];
  const keyMs = quantile(keys, 0.95);
  const speechMs = quantile(turns, 0.95);
  return {
    name: 'ivr',
    about: 'Flows over the protocol of Twilio, through a gateway in a process of its own.',
    tables: [
      {
        title: 'From the caller to the first frame of the next prompt, ms',
        heads: ['what', 'times', 'p50', 'p95', 'longest'],
        rows: [
          row(`a key that cuts a prompt off, ${calls} calls at once`, keys),
          row(`the same just after a restart`, again),
          row(`the end of speech (ENDPOINT_MS=${ENDPOINT_MS})`, turns),
        ],
      },
      {
        title: 'Prompts after a restart, by where they came from',
        heads: ['from', 'prompts'],
        rows: [...asked],
      },
    ],
    notes: [`Gateway and engines took ${figure(cores, 2)} cores while ${calls} callers pressed keys.`],
    goals: [
      { goal: `key → next prompt p95 ≤ ${KEY_GOAL_MS} ms`, found: `${figure(keyMs)} ms`, met: keyMs <= KEY_GOAL_MS },
      {
        goal: `end of speech → next prompt p95 ≤ ${SPEECH_GOAL_MS} ms`,
        found: `${figure(speechMs)} ms`,
        met: speechMs <= SPEECH_GOAL_MS,
      },
      {
        goal: 'all static prompts are found after a restart',
        found: `${figure(hits * 100)} %`,
        met: made === 0 && all > 0,
      },
    ],
  };
}
