/** A client of pretend engine processes, and what its tests do to them. */
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Engine, TranscribeRequest } from '../../src/engine-client/engine.ts';
import { EngineClient, type EngineClientOptions } from '../../src/engine-client/engine-client.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { TONE } from '../engine/settings.ts';
import { FakeClock } from '../fakes/clock.ts';
import { eventually } from './eventually.ts';
import { isAlive } from './processes.ts';

/** A pretend engine process; the words that it obeys are listed in its file. */
const ENTRY = fileURLToPath(new URL('../fakes/engine-child.mjs', import.meta.url));

/** Settings with which the pretend engine behaves. */
export const SETTINGS = TONE;

/** It dies before it is ready. */
export const DIES_LOADING = { ...SETTINGS, threads: 13 };
/** It loads for ever. */
export const NEVER_READY = { ...SETTINGS, threads: 14 };
/** It does not go when it is told to. */
export const IGNORES_DRAIN = { ...SETTINGS, threads: 15 };
/** It reads three recordings in one run. */
export const READS_THREE = { ...SETTINGS, threads: 16 };
/** It says that it loads the other models, and does so for ever. */
export const LOADS_SLOWLY = { ...SETTINGS, threads: 17 };

/** Enough for batch jobs never to be held back. */
export const MANY_CORES = 64;

type Urgency = TranscribeRequest['urgency'];

const opened: EngineClient[] = [];

/** A client that is killed and closed after the test, with everything it was given. */
export function open(options: Partial<EngineClientOptions> = {}) {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const refusals: string[] = [];
  const engineClient = new EngineClient({
    engineSettings: SETTINGS,
    workers: 1,
    cores: MANY_CORES,
    idleMs: 0,
    entry: ENTRY,
    clock,
    log: createLog('silent'),
    metrics,
    onRefused: (message) => refusals.push(message),
    ...options,
  });
  opened.push(engineClient);
  return { engineClient, clock, metrics, refusals };
}

/** Asks the engine to obey `word`; the promise of the text that it answers. */
export async function say(
  engineClient: Pick<Engine, 'transcribe'>,
  word: string,
  urgency: Urgency = 'final',
  extra: Partial<TranscribeRequest> = {},
): Promise<string> {
  const samples = Int16Array.from(word, (letter) => letter.charCodeAt(0));
  const { text } = await engineClient.transcribe({ samples, urgency, dueInMs: 1000, draft: [], ...extra });
  return text;
}

/** Settled outcome as a word: the text, or the code of the error. */
export const outcome = (promise: Promise<string>): Promise<string> =>
  promise.catch((error: { code: string }) => error.code);

/** Kills the first engine of `engineClient` and returns its process id. */
export function killEngine(engineClient: EngineClient): number {
  const pid = engineClient.status.pids[0];
  if (pid === undefined) throw new Error('no engine runs');
  process.kill(pid, 'SIGKILL');
  return pid;
}

/** Runs `action` on a machine that cannot start a Node process. */
export function withoutNode(action: () => void): void {
  const { execPath } = process;
  process.execPath = '/nonexistent/node';
  try {
    action();
  } finally {
    process.execPath = execPath;
  }
}

/** Waits until the one engine was noticed to be dead, then lets the back-off pass. */
export async function restart(engineClient: EngineClient, clock: FakeClock, backoffMs = 100): Promise<void> {
  await eventually(() => expect(engineClient.status.pids).toEqual([]));
  clock.advance(backoffMs);
}

/** The value of the metric `name`. */
export const count = async (metrics: Metrics, name: string) =>
  (await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value;

/**
 * Ends the engines that a test has opened: for `afterEach` of each file, since files share a process and a hook of this
 * module would be the first one's alone.
 */
export async function closeEngineClients(): Promise<void> {
  const pids = opened.flatMap((engineClient) => engineClient.status.pids);
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
  await Promise.all(opened.splice(0).map((engineClient) => engineClient.close()));
}
