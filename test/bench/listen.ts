/**
 * Live audio through every way in, beside the same audio as Twilio calls: word error rate, how late finals are, and
 * what a session costs, with several sessions of a kind at once.
 */
import { cpus } from 'node:os';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { msToSamples, samplesToMs } from '../../src/foundation/units.ts';
import { type GatewayProcess, metricValue, startGateway, usageOf } from '../helpers/gateway.ts';
import { freeSipPort } from '../helpers/ports.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { AUDIOHOOK, SIPREC, sipPhone, TWILIO } from './listen-calls.ts';
import { type HeardFinal, LISTEN_ENDPOINT_MS, type ListenEndpoint, type ListenTarget } from './listen-endpoints.ts';
import { openCallFeed } from './listen-feed.ts';
import { type Figures, figuresOf, type HeardSession, type SpeechEnd } from './listen-judge.ts';
import { type Compared, listenReport } from './listen-report.ts';
import { DEEPGRAM, FLUX, JAMBONZ, REALTIME, TRANSCRIBE } from './listen-sockets.ts';
import { concatenate, loadPrompts, type Prompt, type PromptCall, promptCalls } from './prompts.ts';
import type { Report } from './report.ts';
import { normaliseWords } from './wer/normalise.ts';

/** In the order of the table. The first shows what differs where nothing does. */
const LISTEN_ENDPOINTS: readonly ListenEndpoint[] = [
  TWILIO,
  DEEPGRAM,
  FLUX,
  REALTIME,
  JAMBONZ,
  TRANSCRIBE,
  AUDIOHOOK,
  SIPREC,
  sipPhone('mulaw'),
  sipPhone('g722'),
  sipPhone('opus'),
];
const PAUSE_MS = [700, 1500] as const;
/** Sessions begin this far apart, so that their utterances do not end together. */
const STAGGER_MS = 137;
/** Each round lies otherwise on the recogniser's windows. */
const ROUND_SHIFT_MS = 7;
const WARM_UP_PROMPTS = 2;
/** For so long engines count what they did: before each round. */
const REST_MS = 5000;
/** A few are minutes long: all would wait for whoever has one. */
const PROMPT_MAX_MS = 8000;

/** Sessions of one endpoint, and calls beside them. */
export interface ListenOptions {
  /** Of each, all at once. */
  readonly sessions: number;
  /** What each session says. */
  readonly promptsEach: number;
}

/** The same prompts at the same times, said by one voice and by two in turn. */
interface Saying {
  readonly alone: PromptCall;
  readonly inTurn: readonly PromptCall[];
}

interface RunningGateway extends ListenTarget {
  readonly process: GatewayProcess;
}

/** Runs the benchmark: one endpoint after the other, each at the same time as calls. */
export async function benchListen(options: ListenOptions): Promise<Report> {
  const sipPort = await freeSipPort();
  const gateway = await startGateway({
    ENDPOINT_MS: String(LISTEN_ENDPOINT_MS),
    ENDPOINT_CAPTIONS_MS: String(LISTEN_ENDPOINT_MS),
    SIP_PORT: String(sipPort),
    MAX_CALLS: '1000',
  });
  const feed = await openCallFeed(gateway.url);
  try {
    const running = { url: gateway.url, sipPort, feed, process: gateway };
    const sayings = sayingsOf(options);
    const compared: Compared[] = [];
    await warmUp(running);
    for (const [round, endpoint] of LISTEN_ENDPOINTS.entries()) {
      // Engines that are busy refuse sessions.
      await sleep(systemClock, REST_MS);
      compared.push(await compare(running, { endpoint, sayings, shiftMs: round * ROUND_SHIFT_MS }));
    }
    return listenReport(compared, options);
  } finally {
    feed.close();
    await gateway.stop();
  }
}

/** Code that is still being compiled would count as lateness. */
async function warmUp(target: ListenTarget): Promise<void> {
  const [saying] = sayingsOf({ sessions: 1, promptsEach: WARM_UP_PROMPTS });
  if (saying === undefined) return;
  await Promise.all(LISTEN_ENDPOINTS.map((endpoint) => endpoint.hear(target, audioFor(endpoint, saying, 0))));
}

/**
 * Prompts are in the order of their names: every n-th one, so that a short run has all kinds, dealt to the sessions one
 * by one, so that they are of about one length.
 */
function sayingsOf({ sessions, promptsEach }: ListenOptions): Saying[] {
  const all = loadPrompts().filter(({ samples }) => samplesToMs(samples.length, LINE_RATE_HZ) <= PROMPT_MAX_MS);
  const step = Math.max(Math.floor(all.length / (sessions * promptsEach)), 1);
  const chosen = all.filter((_, at) => at % step === 0).slice(0, sessions * promptsEach);
  const prompts = Array.from({ length: sessions }, (_, first) =>
    chosen.filter((_, at) => at % sessions === first),
  ).flat();
  const calls = (of: readonly Prompt[]) => promptCalls(of, { promptsPerCall: promptsEach, pauseMs: PAUSE_MS });
  const voices = [0, 1].map((voice) =>
    calls(prompts.map((prompt, at) => (at % 2 === voice ? prompt : unsaid(prompt)))),
  );
  return calls(prompts).map((alone, index) => ({ alone, inTurn: voices.flatMap((voice) => voice[index] ?? []) }));
}

function unsaid(prompt: Prompt): Prompt {
  return { ...prompt, samples: new Int16Array(prompt.samples.length), words: [] };
}

function voicesOf({ voices }: ListenEndpoint, { alone, inTurn }: Saying): readonly PromptCall[] {
  return voices === 1 ? [alone] : inTurn;
}

/** What each voice says, after `waitMs` of silence. */
function audioFor(endpoint: ListenEndpoint, saying: Saying, waitMs: number): Int16Array[] {
  const wait = new Int16Array(msToSamples(waitMs, LINE_RATE_HZ));
  return voicesOf(endpoint, saying).map(({ samples }) => concatenate([wait, samples]));
}

interface Round {
  readonly endpoint: ListenEndpoint;
  readonly sayings: readonly Saying[];
  /** Silence before everything. */
  readonly shiftMs: number;
}

async function compare(gateway: RunningGateway, { endpoint, sayings, shiftMs }: Round): Promise<Compared> {
  const loop = performance.eventLoopUtilization();
  const before = { ...cpuSeconds(gateway.process), ...(await finalsSoFar(gateway.process)) };
  const [calls = [], sessions = []] = await Promise.all(
    [TWILIO, endpoint].map((each, place) =>
      hearAll(gateway, each, sayings, (index) => shiftMs + (2 * index + place) * STAGGER_MS),
    ),
  );
  const after = { ...cpuSeconds(gateway.process), ...(await finalsSoFar(gateway.process)) };
  const ends = calls.map((finals) => (finals ?? []).flatMap(speechEnd));
  const figures = (of: ListenEndpoint, heard: readonly (readonly HeardFinal[] | null)[]): Figures =>
    figuresOf(
      heard.flatMap((finals, index): HeardSession[] => {
        const saying = sayings[index];
        if (finals === null || saying === undefined) return [];
        return [{ words: voicesOf(of, saying).map(({ words }) => words), finals, ends: ends[index] ?? [] }];
      }),
    );
  const spokenMs = sum(sayings.map(({ alone }) => samplesToMs(alone.samples.length, LINE_RATE_HZ)));
  return {
    label: endpoint.label,
    refused: [...calls, ...sessions].filter((finals) => finals === null).length,
    sessions: figures(endpoint, sessions),
    calls: figures(TWILIO, calls),
    gatewayCpu: (1000 * (after.gateway - before.gateway)) / spokenMs,
    engineCpu: (1000 * (after.engines - before.engines)) / spokenMs,
    clientLoopShare: performance.eventLoopUtilization(loop).utilization,
    otherCpu: (after.others - before.others) / (after.wall - before.wall),
    unaheadShare: (after.fresh - before.fresh) / (after.finals - before.finals),
  };
}

/** All finals, and those whose decode began only when their end was decided. */
async function finalsSoFar({ metrics }: GatewayProcess): Promise<{ readonly finals: number; readonly fresh: number }> {
  const page = await metrics();
  const of = (how: string): number => metricValue(page, `trunkline_finals_total{how="${how}"}`) || 0;
  return { finals: of('eager') + of('fresh') + of('fallback'), fresh: of('fresh') };
}

function speechEnd({ text, endMs }: HeardFinal): SpeechEnd[] {
  return endMs === null ? [] : [{ endMs, words: normaliseWords(text) }];
}

/** What each session heard, with times without the silence before it; null = it was refused. */
function hearAll(
  target: ListenTarget,
  endpoint: ListenEndpoint,
  sayings: readonly Saying[],
  waitMsOf: (index: number) => number,
): Promise<(readonly HeardFinal[] | null)[]> {
  return Promise.all(
    sayings.map(async (saying, index) => {
      const waitMs = waitMsOf(index);
      const finals = await endpoint.hear(target, audioFor(endpoint, saying, waitMs)).catch(() => null);
      return (
        finals?.map((final) => ({
          ...final,
          endMs: final.endMs === null ? null : final.endMs - waitMs,
          arrivedMs: final.arrivedMs - waitMs,
        })) ?? null
      );
    }),
  );
}

interface CpuSeconds {
  readonly gateway: number;
  readonly engines: number;
  /** Of whatever else this machine does, without us. */
  readonly others: number;
  /** Not of a core: of time. */
  readonly wall: number;
}

function cpuSeconds({ pid, enginePids }: GatewayProcess): CpuSeconds {
  const engines = sum(enginePids().map((engine) => usageOf(engine).cpuSeconds));
  const gateway = usageOf(pid).cpuSeconds;
  const own = process.cpuUsage();
  const busyMs = sum(cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq));
  const others = busyMs / 1000 - gateway - engines - (own.user + own.system) / 1e6;
  return { gateway, engines, others, wall: performance.now() / 1000 };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
