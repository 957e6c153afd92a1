/**
 * Measures how many live calls this machine holds: runs a gateway with more and more simulated callers until final
 * captions come late.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { z } from 'zod';
import type { FeedEvent } from '../../calls/feed/events.ts';
import { sleep, systemClock } from '../../foundation/clock.ts';
import { packagePath } from '../../foundation/folders/paths.ts';
import { createLog } from '../../foundation/log/log.ts';
import { coresAvailable } from '../../foundation/machine/cores.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import { runGateway } from '../../gateway/main.ts';
import { systemSchema } from '../../http/system/schema.ts';
import { openWholeFeed } from '../feed-client.ts';
import { lagsOf, quantile } from '../latencies.ts';
import { ownGateway } from '../own-gateway.ts';
import { untilReady } from '../readiness.ts';
import type { CallersAnswer, CallersTask } from './messages.ts';
import { heldCalls, nextCalls } from './steps.ts';

/** The duration of each call. */
const CALL_SECONDS = 10;
/** The share of that time in which the caller speaks, as in the benchmark of calls. */
export const SPEECH_SHARE = 0.45;
/**
 * A number of calls is held when 95 % of its finals come within this time of the endpoint silence, none is missing, and
 * the second recogniser, if any, wrote them.
 */
export const LATE_MAX_MS = 300;
/**
 * With a second recogniser: where more finals than this share are by the first one, the machine is too small for it.
 */
export const FALLBACK_MAX_SHARE = 0.1;
/** How long to wait for the last finals of a step. If they take longer, the calls are not held. */
const LAST_FINALS_MS = 15_000;
const FINAL_READY_MS = 120_000;
const ASK_EVERY_MS = 200;

/** The result for one number of calls. */
export interface CapacityStep {
  readonly calls: number;
  readonly finals: number;
  /** From the end of speech to the final, beyond the endpoint silence; null = there were none. */
  readonly lateP50Ms: number | null;
  readonly lateP95Ms: number | null;
  readonly partialLagP95Ms: number | null;
  /** Parts of calls that have no final caption. */
  readonly gaps: number;
  /** Calls that the gateway refused or ended early. */
  readonly refused: number;
  /** Finals by ASR_MODEL in the place of ASR_FINAL_MODEL, as a share of all; null = there is no second recogniser. */
  readonly fallbackShare: number | null;
  readonly held: boolean;
}

/** The result of the measurement. */
export interface Capacity {
  /** What it holds for. */
  readonly models: { readonly live: string; readonly final: string | null };
  /** More finals than this share by the first recogniser are too many. */
  readonly fallbackMaxShare: number;
  /** The most calls that were held. */
  readonly calls: number;
  /** Whether a larger number was tried and not held. */
  readonly isLimit: boolean;
  readonly steps: readonly CapacityStep[];
}

interface MeasureOptions {
  readonly settings: Settings;
  /** Ends the measurement at once: the gateway is closed, and the promise rejects. */
  readonly signal: AbortSignal;
  /** A step with this many calls begins; 0 = the models are being loaded. */
  onTrying(calls: number): void;
  onStep(step: CapacityStep): void;
}

/**
 * Measures the capacity, which takes a minute or two. Leaves no files behind.
 * @throws Error when the engines do not start, or `signal` aborts
 */
export async function measureCapacity(options: MeasureOptions): Promise<Capacity> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-capacity-'));
  try {
    return await measureIn(folder, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureIn(
  folder: string,
  { settings: environment, signal, onTrying, onStep }: MeasureOptions,
): Promise<Capacity> {
  const settings: Settings = {
    ...ownGateway(environment),
    MODEL_CACHE_DIR: folder,
    MAX_CALLS: 10_000,
    APP_URL: '',
    ENGINE_PRELOAD: true,
  };
  let refusal: string | null = null;
  const onRefused = (message: string) => {
    refusal = message;
  };
  signal.throwIfAborted();
  const gateway = await runGateway(settings, { log: createLog('silent'), onRefused });
  const steps: CapacityStep[] = [];
  try {
    onTrying(0);
    await untilReady(gateway.url, systemClock, () => (signal.aborted ? 'interrupted' : refusal));
    if (settings.ASR_FINAL_MODEL !== '') await untilFinalReady(gateway.url, signal);
    for (let calls = nextCalls(steps, coresAvailable()); calls !== null; calls = nextCalls(steps, coresAvailable())) {
      onTrying(calls);
      const step = await tryCalls(calls, { url: gateway.url, settings, signal });
      steps.push(step);
      onStep(step);
    }
  } finally {
    await gateway.close();
  }
  const models = { live: settings.ASR_MODEL, final: settings.ASR_FINAL_MODEL || null };
  const calls = heldCalls(steps);
  const isLimit = steps.some((step) => step.calls > calls);
  return { models, fallbackMaxShare: FALLBACK_MAX_SHARE, calls, isLimit, steps };
}

const recogniserState = systemSchema.pick({ recognisers: true, fallbacks: true });

async function askRecognisers(url: string, signal: AbortSignal): Promise<z.infer<typeof recogniserState>> {
  const response = await fetch(`${url}/v1/system`, { signal });
  return recogniserState.parse(await response.json());
}

/** A final that came while the second recogniser was being loaded says nothing of the machine. */
async function untilFinalReady(url: string, signal: AbortSignal): Promise<void> {
  const giveUpMs = systemClock.nowMs() + FINAL_READY_MS;
  for (;;) {
    const { recognisers } = await askRecognisers(url, signal);
    const final = recognisers.find(({ role }) => role === 'final');
    if (final === undefined || final.state === 'ready') return;
    if (final.state === 'missing') throw new Error('no engine with ASR_FINAL_MODEL can be started');
    if (systemClock.nowMs() > giveUpMs) throw new Error('no engine with ASR_FINAL_MODEL was ready within two minutes');
    await sleep(systemClock, ASK_EVERY_MS);
  }
}

/** Finals by the first recogniser since the start; null = there is no second one. */
async function countFallbacks({ url, settings, signal }: TryOptions): Promise<number | null> {
  if (settings.ASR_FINAL_MODEL === '') return null;
  const { fallbacks } = await askRecognisers(url, signal);
  return fallbacks.reduce((sum, { count }) => sum + count, 0);
}

interface TryOptions {
  readonly url: string;
  readonly settings: Settings;
  readonly signal: AbortSignal;
}

async function tryCalls(calls: number, options: TryOptions): Promise<CapacityStep> {
  const { url, settings, signal } = options;
  const fallbacksBefore = await countFallbacks(options);
  const events: FeedEvent[] = [];
  const open = new Set<string>();
  let onQuiet = (): void => undefined;
  const closeFeed = await openWholeFeed(url, (event) => {
    events.push(event);
    if (event.type === 'call.started') open.add(event.callId);
    if (event.type === 'call.ended' && open.delete(event.callId) && open.size === 0) onQuiet();
  });
  try {
    const mediaUrl = `${url.replace(/^http/, 'ws')}/twilio/media`;
    const { refused } = await runCallers(
      { url: mediaUrl, calls, seconds: CALL_SECONDS, speechShare: SPEECH_SHARE },
      signal,
    );
    const quiet = new Promise<void>((resolve) => {
      onQuiet = resolve;
      if (open.size === 0) resolve();
    });
    const allEnded = await settlesWithin(systemClock, quiet, LAST_FINALS_MS);
    const fallbacks = await countFallbacks(options);
    const fellBack = fallbacks === null ? null : fallbacks - (fallbacksBefore ?? 0);
    return evaluate({ calls, refused, allEnded, events, fellBack }, settings);
  } finally {
    closeFeed();
  }
}

interface Found {
  readonly calls: number;
  readonly refused: number;
  /** Whether every call ended in time, after its last final. */
  readonly allEnded: boolean;
  readonly events: readonly FeedEvent[];
  /** Finals by the first recogniser in the place of the second; null = there is no second one. */
  readonly fellBack: number | null;
}

/** The result of a step, from its events. */
export function evaluate(
  { calls, refused, allEnded, events, fellBack }: Found,
  settings: Pick<Settings, 'ENDPOINT_CAPTIONS_MS' | 'POST_ROLL_MS'>,
): CapacityStep {
  const { lateMs, cutLagMs, partialLagMs } = lagsOf(events, settings);
  const gaps = events.filter(({ type }) => type === 'gap').length;
  const [lateP50Ms, lateP95Ms] = [quantile(lateMs, 0.5), quantile(lateMs, 0.95)];
  const finals = lateMs.length + cutLagMs.length;
  const fallbackShare = fellBack === null ? null : Math.min(fellBack / Math.max(finals, 1), 1);
  const isInTime = lateP95Ms !== null && lateP95Ms <= LATE_MAX_MS;
  const isByFinal = (fallbackShare ?? 0) <= FALLBACK_MAX_SHARE;
  return {
    calls,
    finals,
    lateP50Ms,
    lateP95Ms,
    partialLagP95Ms: quantile(partialLagMs, 0.95),
    gaps,
    refused,
    fallbackShare,
    held: allEnded && refused === 0 && gaps === 0 && isInTime && isByFinal,
  };
}

/** Places calls from a separate thread. When `signal` aborts, ends the thread and rejects. */
function runCallers(task: CallersTask, signal: AbortSignal): Promise<CallersAnswer> {
  const worker = new Worker(packagePath('dist', 'src', 'cli', 'capacity', 'callers.js'), {
    workerData: task,
    execArgv: [],
  });
  return new Promise<CallersAnswer>((resolve, reject) => {
    const abort = () => void worker.terminate();
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => {
      signal.removeEventListener('abort', abort);
      reject(new Error('the callers were interrupted'));
    });
  });
}
