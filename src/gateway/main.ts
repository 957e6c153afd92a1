/** Runs a gateway inside any program: builds it, starts it and ends it. */

import type { CallView } from '../calls/call-view.ts';
import type { FeedEvent } from '../calls/feed/events.ts';
import type { EngineStartListener } from '../engine-client/start-listener.ts';
import { listenAt } from '../foundation/listen.ts';
import { createLog, type Log } from '../foundation/log/log.ts';
import { watchDescriptors } from '../foundation/machine/descriptors.ts';
import { findWarnings } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import type { Part } from '../parts/part.ts';
import { PARTS } from './parts.ts';
import { buildParts, type Parts } from './wiring.ts';

/** How long carriers may take to say goodbye when their calls have been ended. */
const GOODBYE_MS = 3000;

/** Longer than the records wait for their last events. */
const END_PART_MAX_MS = 12_000;

/** A gateway that listens. */
export interface Gateway {
  /** `http://<host>:<port>` */
  readonly url: string;
  /** The calls that it knows: live ones, and ended ones as long as CALLS_KEPT keeps them. */
  calls(): CallView[];
  /**
   * Calls `listener` with every event of every call from now on. A listener must not block; one that throws gets no
   * more events. Returns a function that ends the subscription.
   */
  subscribe(listener: (event: FeedEvent) => void): () => void;
  /**
   * Takes no new calls and sessions, and lets live ones continue for DRAIN_TIMEOUT_MS. Then ends them, the readers, the
   * server and the engines. May be called again.
   */
  close(): Promise<void>;
}

/** Where records of calls are kept, and for how many days; 0 = for ever. */
export interface KeptRecords {
  readonly place: string;
  readonly retentionDays: number;
  /** False = they could not be opened yet. */
  readonly isOpen: boolean;
}

/** What a program may want to know of a gateway that it runs. */
export interface GatewayOptions {
  /** By default a log on standard output, at LOG_LEVEL. */
  readonly log?: Log;
  /** Called when an engine finds that the settings cannot be used; `message` says why and what helps. */
  readonly onRefused?: (message: string) => void;
  /**
   * Called before the URL is logged, with what is kept of calls (null = nothing) and the number of users who may sign
   * in.
   */
  readonly onListening?: (url: string, kept: KeptRecords | null, users: number) => void;
  /**
   * Called at the end of the gateway when a part of it did not end in time: a thread may wait for a stuck disk, and
   * `process.exit` would wait for it.
   */
  readonly onStuck?: () => void;
  /** Follows the start of the engines. */
  readonly engineWatcher?: EngineStartListener;
  /** In place of all parts that there are. */
  readonly parts?: readonly Part[];
}

/**
 * Starts a gateway in this process and changes nothing else in it.
 * @throws ListenError when it cannot listen; ConfigError when DATA_DIR, DATABASE_URL, HINTS_FILE, NUMBERS_FILE,
 * PROMPT_CACHE_DIR or PROMPTS_FILE cannot be used; EngineError when EXECUTION_PROVIDER=cuda and no engine starts
 */
export async function runGateway(settings: Settings, options: GatewayOptions = {}): Promise<Gateway> {
  const { log = createLog(settings.LOG_LEVEL), onRefused = (message) => log.fatal(message) } = options;
  const { filePath } = settings.sources;
  if (filePath !== null) log.info({ file: filePath }, 'settings are read from this file');
  for (const warning of findWarnings(settings)) log.warn(warning);
  const state = { isDraining: false };
  const isDraining = () => state.isDraining;
  const { engineWatcher, parts: list = PARTS } = options;
  const parts = await buildParts(settings, { log, onRefused, engineWatcher, isDraining, list });
  try {
    const url = await start(parts, settings);
    options.onListening?.(url, keptBy(parts), parts.people.users?.list.size ?? 0);
    log.info({ url, maxCalls: settings.MAX_CALLS }, 'listening');
    const stopWork = beginWork(parts, settings, { log, isDraining });
    void parts.cluster?.setState('serving');
    let closed: Promise<void> | null = null;
    const close = () => {
      state.isDraining = true;
      closed ??= drain(parts, settings, log).then(() => {
        stopWork();
        return end(parts, options, log);
      });
      return closed;
    };
    return {
      url,
      calls: () => parts.registry.list(),
      subscribe: (listener) => parts.feed.subscribeOwn({}, ({ event }) => listener(event)),
      close,
    };
  } catch (error) {
    await end(parts, options, log);
    throw error;
  }
}

function keptBy({ records }: Parts): KeptRecords | null {
  return records === null
    ? null
    : { place: records.database.place, retentionDays: records.retentionDays, isOpen: records.database.isOpen };
}

/** Listens on all ports. Returns the server's URL. */
async function start(parts: Parts, settings: Pick<Settings, 'EXECUTION_PROVIDER' | 'HOST' | 'PORT'>): Promise<string> {
  // Whoever asks for CUDA by name wants to know at once whether it works; otherwise calls may come while the models
  // load.
  if (settings.EXECUTION_PROVIDER === 'cuda') await parts.engineClient.start();
  await parts.records?.recover(parts.feed);
  for (const part of parts.parts.values()) await part.resume?.();
  void parts.recordings.removeLeftovers();
  for (const part of parts.parts.values()) await part.listen?.();
  const at = { host: settings.HOST, port: settings.PORT, setting: 'PORT' } as const;
  return listenAt(at, () => parts.server.listen({ host: at.host, port: at.port }));
}

/** Begins what goes on by itself. Returns a function that stops it. */
function beginWork(
  { clock, metrics, engineClient, parts, speech, upkeep }: Parts,
  settings: Pick<Settings, 'ENGINE_PRELOAD'>,
  { log, isDraining }: { log: Log; isDraining: () => boolean },
): () => void {
  const descriptors = watchDescriptors({ read: () => metrics.readDescriptors(), clock, log });
  for (const part of parts.values()) part.begin?.();
  if (settings.ENGINE_PRELOAD) {
    engineClient.start().catch((err: unknown) => {
      if (!isDraining()) log.error({ err }, 'no engine is ready');
    });
  }
  void speech.makePromptsOfFile();
  upkeep?.start();
  return () => {
    descriptors.cancel();
    speech.ahead.close();
  };
}

async function drain(parts: Parts, { DRAIN_TIMEOUT_MS }: Pick<Settings, 'DRAIN_TIMEOUT_MS'>, log: Log): Promise<void> {
  const { registry, listeners, recordings, clock } = parts;
  const opened = [...parts.parts.values()];
  const waitsFor = { calls: registry.liveCount + registry.endingCount, sessions: listeners.count };
  if (waitsFor.calls + waitsFor.sessions > 0)
    log.info({ ...waitsFor, timeoutMs: DRAIN_TIMEOUT_MS }, 'waiting for live calls and sessions to end');
  void parts.cluster?.setState('draining');
  for (const part of opened) part.drain?.();
  const goodbyes = () => Promise.all(opened.map((part) => part.goodbye?.()));
  const calls = registry.drain(DRAIN_TIMEOUT_MS).then(() => settlesWithin(clock, goodbyes(), GOODBYE_MS));
  await Promise.all([calls, listeners.drain(DRAIN_TIMEOUT_MS), recordings.drain(DRAIN_TIMEOUT_MS)]);
}

/** Ends all parts, each in bounded time: a disk or database that never answers must not hold the others. */
async function end(parts: Parts, { onStuck }: Pick<GatewayOptions, 'onStuck'>, log: Log): Promise<void> {
  const { clock, server, engineClient, speech, upkeep, numbers } = parts;
  const opened = [...parts.parts];
  const steps: Readonly<Record<string, () => unknown>> = {
    ...Object.fromEntries(opened.map(([name, part]) => [name, () => part.close?.()])),
    server: () => server.close(),
    upkeep: () => upkeep?.close(),
    numbers: () => numbers.close(),
    ...Object.fromEntries(opened.toReversed().map(([name, part]) => [`${name}, the rest`, () => part.release?.()])),
    engines: () => engineClient.close(),
    speech: () => speech.close(),
    records: () => parts.closeRecords(),
  };
  for (const [part, close] of Object.entries(steps)) {
    const closed = Promise.resolve(close());
    if (await settlesWithin(clock, closed, END_PART_MAX_MS)) await closed;
    else {
      log.error({ part }, 'a part of the server does not end; the disk or the database may not answer');
      onStuck?.();
    }
  }
}
