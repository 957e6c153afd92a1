/**
 * Whether Trunkline obeys its own voice: whole calls on lines that send it back, through a flow and through an app,
 * with nobody speaking; and how callers who speak meanwhile are heard.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toSample } from '../../src/audio/pcm.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { ECHO_PATHS } from '../helpers/echo-paths.ts';
import { placeEchoingCall } from '../helpers/echoing-line.ts';
import type { EchoingLine } from '../helpers/echoing-telephone.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { TalkingApp } from './echo-app.ts';
import { patiently } from './patient-call.ts';
import { loadPrompts, type Prompt } from './prompts.ts';
import { figure, quantile, type Report, type Table } from './report.ts';
import { countEdits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';

const FLOW = `version: 1
start: menu
limits: {steps: 1000, visits: 200}
steps:
  menu:
    menu:
      prompt: >-
        Welcome to the shop. For our opening hours, say hours or press one. To leave a message, say message or press
        two. To talk to a person, say operator or press zero.
      timeoutMs: 3000
      choices:
        hours: {key: "1", say: [hours, opening hours], next: hours}
        message: {key: "2", say: [message, voicemail], next: message}
        person: {key: "0", say: [operator, person], next: person}
      noInput: {next: menu}
      noMatch: {next: menu}
  hours: {say: "We are open from nine to five, Monday to Friday.", next: menu}
  message: {say: "Messages are answered within one day.", next: menu}
  person: {say: "One moment please, I will put you through.", next: menu}
`;
const APP_TEXT =
  'Thank you for calling the shop. Our opening hours are nine to five, Monday to Friday, and ten to two on Saturday. ' +
  'We sell fruit, vegetables, bread and flowers. If you would like to order something, please tell me what it is and ' +
  'when you would like to have it. Delivery takes two days and costs nothing above fifty dollars. ';
/** Levels of the echo beside our voice, in dB. */
const LEVELS_DB = [-15, -20, -25, -35, -45, -50, -60];
const DELAYS_MS = [20, 60, 150, 300, 500];
/** Callers begin one after the other. */
const STAGGER_MS = 310;
const TALK_SECONDS = 16;
/** What callers say has so many words at least, and lasts so long at most. */
const WORDS_MIN = 6;
const SPEECH_MAX_SECONDS = 6;
/** The caller speaks at this time of the call. */
const SPEAK_AT_MS = 5000;
const CALLER_DB = -22;
const TALKING_LEVELS_DB = [null, -45, -30, -20, -15] as const;
/** A sample of speech, not of noise. */
const LOUD = 300;

interface Options {
  /** Calls with nobody speaking, half of them through the flow. */
  readonly silent: number;
  /** Calls in which the caller speaks while the app does, at each level of echo. */
  readonly talking: number;
  readonly seconds: number;
  readonly atOnce: number;
}

interface Silent {
  readonly line: EchoingLine;
  readonly steps: number;
  readonly interrupts: number;
  readonly prompts: readonly string[];
  readonly finals: readonly string[];
}

/** Runs the benchmark with the echo canceller `mode`. */
export async function benchEcho(options: Options, mode: 'auto' | 'off'): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-echo-'));
  writeFileSync(join(folder, 'shop.yaml'), FLOW);
  const app = await TalkingApp.open(APP_TEXT, 3);
  const environment = { FLOWS_DIR: folder, ECHO_CANCELLER: mode, MAX_CALLS: '1000', APP_URL: app.url };
  const gateway = await startGateway(environment);
  const feed = await readFeed(gateway.url);
  try {
    const on = { gateway, feed, app };
    const silent = await inTurn(options.atOnce, silentLines(options.silent), (line, index) =>
      silentCall(on, line, { index, seconds: options.seconds }),
    );
    const said = loadPrompts(WORDS_MIN).filter(({ samples }) => samples.length < SPEECH_MAX_SECONDS * LINE_RATE_HZ);
    const talking = await inTurn(options.atOnce, talkingLines(options.talking), (line, index) =>
      talkingCall(on, line, said[((line.seed - 1) * 7) % said.length] as Prompt, index),
    );
    return report(mode, silent, talking);
  } finally {
    feed.close();
    await gateway.stop();
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Running {
  readonly gateway: GatewayProcess;
  readonly feed: FeedReader;
  readonly app: TalkingApp;
}

function silentLines(count: number): EchoingLine[] {
  return Array.from({ length: count }, (_, index) => ({
    path: ECHO_PATHS[index % ECHO_PATHS.length] ?? 'handset',
    levelDb: LEVELS_DB[index % LEVELS_DB.length] ?? -15,
    delayMs: DELAYS_MS[index % DELAYS_MS.length] ?? 150,
    slipMs: index % 8 === 7 ? 20 : 0,
    clipAt: index % 9 === 8 ? 0.15 : 1,
    noise: [0, 3, 10][index % 3] ?? 0,
    seed: index + 1,
  }));
}

function talkingLines(count: number): EchoingLine[] {
  return TALKING_LEVELS_DB.flatMap((levelDb) =>
    Array.from({ length: count }, (_, index) => ({
      path: ECHO_PATHS[index % ECHO_PATHS.length] ?? 'handset',
      levelDb,
      delayMs: DELAYS_MS[(index + 1) % DELAYS_MS.length] ?? 150,
      slipMs: 0,
      clipAt: 1,
      noise: 3,
      seed: index + 1,
    })),
  );
}

async function inTurn<T, R>(
  atOnce: number,
  all: readonly T[],
  run: (each: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = [...all.entries()];
  const workers = Array.from({ length: atOnce }, async (_, worker) => {
    await sleep(systemClock, worker * STAGGER_MS);
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      results[next[0]] = await run(next[1], next[0]);
    }
  });
  await Promise.all(workers);
  return results;
}

/** Nobody speaks. Every other call goes through the flow. */
async function silentCall(
  { gateway, feed, app }: Running,
  line: EchoingLine,
  { index, seconds }: { readonly index: number; readonly seconds: number },
): Promise<Silent> {
  const callSid = `CAsilent${index}`;
  const parameters: Record<string, string> = Math.floor(index / 2) % 2 === 0 ? { flow: 'shop' } : {};
  await patiently(() => placeEchoingCall({ url: mediaUrl(gateway), line, seconds, parameters }, callSid));
  await feed.until((event) => event.type === 'call.ended' && event.callId === callSid);
  const { interruptsMs, prompts } = app.of(callSid);
  const steps = feed.events.filter(
    (event) => event.type === 'flow.input' && event.callId === callSid && event.kind === 'speech',
  );
  const finals = feed
    .finals(callSid)
    .map(({ text }) => text)
    .filter((text) => text !== '');
  return { line, steps: steps.length, interrupts: interruptsMs.length, prompts, finals };
}

interface Talking {
  readonly line: EchoingLine;
  /** From the beginning of what the caller says to the first stop of our voice behind that; NaN = it went on. */
  readonly bargeInMs: number;
  readonly said: readonly string[];
  readonly heard: readonly string[];
}

/** The caller says something while the app speaks. */
async function talkingCall(
  { gateway, feed }: Running,
  line: EchoingLine,
  prompt: Prompt,
  index: number,
): Promise<Talking> {
  const callSid = `CAtalk${index}`;
  const samples = atLevel(prompt.samples);
  const spokeMs = SPEAK_AT_MS + (1000 * samples.findIndex((sample) => Math.abs(sample) > LOUD)) / LINE_RATE_HZ;
  const clears: number[] = [];
  const call = {
    url: mediaUrl(gateway),
    line,
    seconds: TALK_SECONDS,
    says: [{ atMs: SPEAK_AT_MS, samples }],
    onClear: (atMs: number) => void clears.push(atMs),
  };
  await patiently(() => placeEchoingCall(call, callSid));
  await feed.until((event) => event.type === 'call.ended' && event.callId === callSid);
  const heard = feed.finals(callSid).flatMap(({ text }) => normaliseWords(text));
  const clearedMs = clears.find((atMs) => atMs >= spokeMs) ?? Number.NaN;
  return { line, bargeInMs: clearedMs - spokeMs, said: prompt.words, heard };
}

function atLevel(samples: Int16Array): Int16Array {
  const loud = samples.filter((sample) => Math.abs(sample) > LOUD);
  const power = loud.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(loud.length, 1);
  const gain = (32_768 * 10 ** (CALLER_DB / 20)) / Math.sqrt(power);
  return samples.map((sample) => toSample(sample * gain));
}

function mediaUrl({ url }: GatewayProcess): string {
  return `${url.replace(/^http/, 'ws')}/twilio/media`;
}

function report(mode: string, silent: readonly Silent[], talking: readonly Talking[]): Report {
  const falseSteps = sum(silent.map(({ steps }) => steps));
  const falseInterrupts = sum(silent.map(({ interrupts }) => interrupts));
  const falsePrompts = sum(silent.map(({ prompts }) => prompts.length));
  const groups = groupsOf(talking);
  const alone = groups.find(({ levelDb }) => levelDb === null);
  const soft = groups.filter(({ levelDb }) => levelDb !== null && levelDb <= -20);
  const worst = Math.max(...soft.map(({ wrong }) => wrong - (alone?.wrong ?? 0)));
  return {
    name: 'echo',
    about:
      `Whole calls on lines that send our voice back, ECHO_CANCELLER=${mode}. ` +
      'At first nobody speaks; then callers do.',
    tables: [silentTable(silent), talkingTable(groups)],
    notes: [
      'Echo paths, delays, noise, clipping loudspeakers (every ninth) and telephones whose buffer slips by 20 ms ' +
        '(every eighth) are made by arithmetic. Half of the calls go through a flow, half to an app that always talks.',
      'The caller of the second table is human (Debian, asterisk-core-sounds-en), at -22 dB of full scale.',
    ],
    goals: [
      { goal: 'no step of a flow by our own voice', found: String(falseSteps), met: falseSteps === 0 },
      { goal: 'no interruption by our own voice', found: String(falseInterrupts), met: falseInterrupts === 0 },
      { goal: 'none of our own words as a prompt', found: String(falsePrompts), met: falsePrompts === 0 },
      {
        goal: 'words wrong, echo of -20 dB and softer: at most 1 point more than without',
        found: `${figure(worst, 1)} points`,
        met: worst <= 1,
      },
    ],
  };
}

function silentTable(silent: readonly Silent[]): Table {
  return {
    title: 'Nobody speaks',
    heads: ['echo, dB', 'calls', 'steps', 'interruptions', 'prompts', 'captions', 'for instance'],
    rows: LEVELS_DB.map((levelDb) => {
      const calls = silent.filter(({ line }) => line.levelDb === levelDb);
      const texts = calls.flatMap(({ prompts, finals }) => [...prompts, ...finals]);
      return [
        levelDb,
        calls.length,
        sum(calls.map(({ steps }) => steps)),
        sum(calls.map(({ interrupts }) => interrupts)),
        sum(calls.map(({ prompts }) => prompts.length)),
        sum(calls.map(({ finals }) => finals.length)),
        texts[0] ?? '',
      ];
    }),
  };
}

interface Group {
  readonly levelDb: number | null;
  readonly calls: number;
  readonly bargeInMs: readonly number[];
  /** Percent of the caller's words. */
  readonly wrong: number;
}

function groupsOf(talking: readonly Talking[]): Group[] {
  return TALKING_LEVELS_DB.map((levelDb) => {
    const calls = talking.filter(({ line }) => line.levelDb === levelDb);
    const edits = sumEdits(calls.map(({ said, heard }) => countEdits(said, heard)));
    return {
      levelDb,
      calls: calls.length,
      bargeInMs: calls.map(({ bargeInMs }) => bargeInMs),
      wrong: wordErrorRate(edits),
    };
  });
}

function talkingTable(groups: readonly Group[]): Table {
  return {
    title: 'The caller speaks while we do',
    heads: ['echo, dB', 'calls', 'voice stopped', 'beginning of speech → stop p50, ms', 'p95', 'words wrong, %'],
    rows: groups.map(({ levelDb, calls, bargeInMs, wrong }) => {
      const stopped = bargeInMs.filter(Number.isFinite);
      return [
        levelDb ?? 'none',
        calls,
        stopped.length,
        figure(quantile(stopped, 0.5)),
        figure(quantile(stopped, 0.95)),
        figure(wrong, 1),
      ];
    }),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
