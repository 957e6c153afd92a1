/**
 * Wires a gateway together, starts it and ends it. `runGateway` is for any program; `serve` is the process of its own
 * that `trunkline serve` is.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { FastifyInstance } from 'fastify';
import { CallAnnouncements } from './calls/admission/call-announcements.ts';
import { recordingFetcher } from './calls/app/recording.ts';
import { TwimlClient } from './calls/app/twiml/client.ts';
import { Handovers } from './calls/app/twiml/handovers.ts';
import type { CallContext } from './calls/context.ts';
import { Feed } from './calls/feed/feed.ts';
import { CallRegistry } from './calls/registry.ts';
import type { EngineClient } from './engine-client/engine-client.ts';
import { createEngineClient, workersOf } from './engine-client/from-settings.ts';
import type { EngineWatcher } from './engine-client/watcher.ts';
import { type Clock, systemClock } from './foundation/clock.ts';
import { packagePath } from './foundation/folders/paths.ts';
import { createLog, type Log, logFormatOf, logState, writeForPeople } from './foundation/log/log.ts';
import { watchDescriptors } from './foundation/machine/descriptors.ts';
import { askGpuName } from './foundation/machine/gpu-name.ts';
import { Metrics } from './foundation/metrics.ts';
import { ConfigError, EXIT_CONFIG, findWarnings } from './foundation/settings/config.ts';
import type { Settings } from './foundation/settings/settings.ts';
import { MULAW_8K } from './foundation/units.ts';
import type { GatewayHealth } from './http/health.ts';
import { Batches } from './jobs/batches.ts';
import { Recordings } from './recordings/recordings.ts';
import { createServer } from './server.ts';
import { openSpeech } from './speech/speech.ts';
import { voiceCheck } from './speech/voice-check.ts';
import { readyLine, startLines } from './start-lines.ts';
import { AsteriskTrunk } from './trunks/asterisk/trunk.ts';
import { AudioSocketServer } from './trunks/audiosocket/server.ts';
import { SipAgent } from './trunks/sip/agent.ts';
import { WebSocketTrunk } from './trunks/websocket/trunk.ts';

/** A gateway that listens. */
export interface Gateway {
  /** `http://<host>:<port>` */
  readonly url: string;
  /**
   * Takes no new calls, lets live ones go on for DRAIN_TIMEOUT_MS, then ends them, the readers, the server and the
   * engines. Idempotent.
   */
  close(): Promise<void>;
}

interface GatewayOptions {
  /** Standard output at LOG_LEVEL by default. */
  readonly log?: Log;
  /** The settings turn out to be of no use once an engine has looked at them; `message` says why and what helps. */
  readonly onRefused?: (message: string) => void;
  /** Told where it listens, before the log is. */
  readonly onListening?: (url: string) => void;
  /** Told how far the engines are. */
  readonly engineWatcher?: EngineWatcher;
}

/**
 * Starts a gateway in this process and touches nothing else of it.
 * @throws ListenError when it cannot listen; ConfigError when PROMPT_CACHE_DIR or PROMPTS_FILE cannot be used;
 * EngineError when EXECUTION_PROVIDER=cuda and no engine starts
 */
export async function runGateway(settings: Settings, options: GatewayOptions = {}): Promise<Gateway> {
  const { log = createLog(settings.LOG_LEVEL) } = options;
  for (const warning of findWarnings(settings)) log.warn(warning);
  const clock = systemClock;
  const metrics = new Metrics();
  metrics.watchLog(logState);
  const descriptors = watchDescriptors({ read: () => metrics.readDescriptors(), clock, log });
  const engineClient = openLink(settings, { clock, log, metrics }, options);
  const feed = new Feed({ history: settings.FEED_HISTORY, epoch: randomUUID() });
  const speech = await openSpeech({ settings, engine: engineClient, metrics, clock, log });
  const registry = openRegistry({
    settings,
    engine: engineClient,
    synthesizer: speech.calls,
    clock,
    feed,
    log,
    metrics,
  });
  const announced = new CallAnnouncements({ clock });
  const trunks = createTrunks(settings, { registry, announced, clock, log, metrics });
  const warming = new AbortController();
  const recordings = new Recordings({ settings, engine: engineClient, clock, metrics });
  const batches = new Batches({ settings, recordings, clock, log, metrics });
  let draining = false;
  const health = healthReader(engineClient, () => draining);
  const webSockets = new WebSocketTrunk({ registry, settings, clock });
  const server = await createServer({
    ...{ settings, registry, announced, feed, recordings, batches, speech, health, metrics, log, clock },
    ...{ webSockets, engine: engineClient, assistant: trunks.asterisk, dialer: trunks.sip },
  });
  const end = async () => {
    warming.abort();
    descriptors.cancel();
    await trunks.close();
    await server.close();
    await batches.close();
    await engineClient.close();
    await speech.close();
  };
  let closed: Promise<void> | null = null;
  try {
    // Whoever asks for CUDA by name wants to know at once whether it is there; otherwise calls may come while the
    // models load.
    if (settings.EXECUTION_PROVIDER === 'cuda') await engineClient.start();
    await batches.resume();
    void recordings.removeLeftovers();
    await trunks.listen();
    const url = await listen(server, settings);
    options.onListening?.(url);
    log.info({ url, maxCalls: settings.MAX_CALLS }, 'listening');
    trunks.asterisk?.open();
    if (settings.ENGINE_PRELOAD) void preload(engineClient, { log, isDraining: () => draining });
    void speech.makePromptsAhead(MULAW_8K, warming.signal);
    const close = () => {
      draining = true;
      trunks.sip?.drain();
      batches.drain();
      closed ??= Promise.all([
        registry.drain(settings.DRAIN_TIMEOUT_MS),
        recordings.drain(settings.DRAIN_TIMEOUT_MS),
      ]).then(end);
      return closed;
    };
    return { url, close };
  } catch (error) {
    await end();
    throw error;
  }
}

/** The calls, with what their apps may ask of other servers. */
function openRegistry(options: Omit<CallContext, 'fetchRecording' | 'twiml' | 'handovers'>): CallRegistry {
  const { settings, clock } = options;
  const fetchRecording = recordingFetcher(settings, clock);
  return new CallRegistry({
    ...options,
    fetchRecording,
    twiml: new TwimlClient(options),
    handovers: new Handovers(clock),
  });
}

function healthReader(engineClient: EngineClient, isDraining: () => boolean): () => GatewayHealth {
  const gpuName = askGpuName();
  return () => ({ draining: isDraining(), engine: engineClient.status, gpuName: gpuName() });
}

/** The engines, none of them started. The first that is ready tells whether there is a voice to speak with. */
function openLink(
  settings: Settings,
  wiring: { clock: Clock; log: Log; metrics: Metrics },
  options: GatewayOptions,
): EngineClient {
  const { log } = wiring;
  const { onRefused = (message) => log.fatal(message), engineWatcher } = options;
  const checkVoice = voiceCheck(settings, { log, onRefused, voices: () => engineClient.voices });
  const onReady = (ready: number, workers: number) => {
    checkVoice();
    engineWatcher?.onReady(ready, workers);
  };
  const onProgress = (text: string) => engineWatcher?.onProgress(text);
  const engineClient: EngineClient = createEngineClient(settings, {
    ...wiring,
    onRefused,
    watcher: { onProgress, onReady },
  });
  return engineClient;
}

async function preload(
  engineClient: EngineClient,
  { log, isDraining }: { log: Log; isDraining: () => boolean },
): Promise<void> {
  try {
    await engineClient.start();
  } catch (err) {
    if (!isDraining()) log.error({ err }, 'no engine is ready');
  }
}

/** The server cannot listen where HOST and PORT say; `message` says why and what helps. */
class ListenError extends Error {}

async function listen(server: FastifyInstance, { HOST, PORT }: Settings): Promise<string> {
  try {
    return await server.listen({ host: HOST, port: PORT });
  } catch (error) {
    throw new ListenError(explainListen(error, HOST, PORT, 'PORT'), { cause: error });
  }
}

interface TrunkContext {
  readonly registry: CallRegistry;
  readonly announced: CallAnnouncements;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The doors that are not HTTP; null = closed. */
interface Trunks {
  readonly asterisk: AsteriskTrunk | null;
  readonly sip: SipAgent | null;
  /** Listens on their ports. Rejects with ListenError. */
  listen(): Promise<void>;
  close(): Promise<void>;
}

function createTrunks(settings: Settings, context: TrunkContext): Trunks {
  const { HOST, ARI_URL, AUDIOSOCKET_PORT, SIP_PORT } = settings;
  const options = { ...context, settings };
  const { log } = context;
  const asterisk = ARI_URL === '' ? null : new AsteriskTrunk(options);
  const audioSocket = AUDIOSOCKET_PORT === 0 ? null : new AudioSocketServer(options);
  const sip = SIP_PORT === 0 ? null : new SipAgent(options);
  return {
    asterisk,
    sip,
    listen: async () => {
      if (audioSocket !== null)
        await listenFor(
          'AudioSocket',
          audioSocket,
          { host: HOST, port: AUDIOSOCKET_PORT, setting: 'AUDIOSOCKET_PORT' },
          log,
        );
      if (sip !== null) await listenFor('SIP', sip, { host: HOST, port: SIP_PORT, setting: 'SIP_PORT' }, log);
    },
    close: async () => {
      await Promise.all([audioSocket?.close(), asterisk?.close(), sip?.close()]);
    },
  };
}

type PortSetting = 'PORT' | 'AUDIOSOCKET_PORT' | 'SIP_PORT';

/** A server of a trunk: `listen` returns where it does. */
interface Listener {
  listen(host: string, port: number): Promise<string>;
}

async function listenFor(what: string, listener: Listener, { host, port, setting }: ListenAt, log: Log): Promise<void> {
  try {
    log.info({ address: await listener.listen(host, port) }, `listening for ${what}`);
  } catch (error) {
    throw new ListenError(explainListen(error, host, port, setting), { cause: error });
  }
}

interface ListenAt {
  readonly host: string;
  readonly port: number;
  readonly setting: PortSetting;
}

function explainListen(error: unknown, host: string, port: number, setting: PortSetting): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is in use: end what listens there, or set ${setting} to another${setting === 'PORT' ? ' (0 = any free one)' : ''}`;
    case 'EACCES':
      return `port ${port} may not be opened by this user: set ${setting} to 1024 or more`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST=${host} is not an address of this machine`;
    default:
      return `cannot listen on ${host}, port ${port}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * Runs a gateway as this process's only business: SIGTERM and SIGINT drain it and end the process with 0, a second one
 * ends it at once. Settings that the engine refuses end it with 78, whatever else goes wrong with 1, each after a fatal
 * log line.
 */
export async function serve(settings: Settings): Promise<void> {
  const format = logFormatOf(settings);
  const log = createLog(settings.LOG_LEVEL, undefined, format);
  // What was thrown may throw again when it is looked at; an error in the handler of uncaught ones would end the
  // process with 7 and without a line.
  const die = (exitCode: number, message: string, err?: unknown): never => {
    try {
      log.fatal({ err }, message);
    } catch {
      log.fatal(`${message}, of something that cannot be written`);
    } finally {
      process.exit(exitCode);
    }
  };
  process.on('uncaughtException', (error) => die(1, 'uncaught exception', error));
  process.on('unhandledRejection', (reason) => die(1, 'unhandled rejection', reason));
  const greeting = format === 'pretty' && log.isLevelEnabled('info') ? greetPeople(settings) : {};
  const starting = runGateway(settings, { log, onRefused: (message) => die(EXIT_CONFIG, message), ...greeting });
  endOnSignals(starting, log);
  try {
    await starting;
  } catch (error) {
    if (error instanceof ConfigError) die(EXIT_CONFIG, error.message);
    if (error instanceof ListenError) die(1, error.message);
    die(1, 'cannot start', error);
  }
}

/** Tells a person on a terminal where the gateway is and, once, that it is ready. */
function greetPeople(settings: Settings): Pick<GatewayOptions, 'onListening' | 'engineWatcher'> {
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
  let isToldReady = false;
  const onReady = (ready: number, workers: number) => {
    if (!isToldReady) writeForPeople([readyLine(ready, workers)]);
    isToldReady = true;
  };
  return {
    onListening: (url) => writeForPeople(startLines(settings, { version, url, workers: workersOf(settings) })),
    engineWatcher: { onProgress: () => undefined, onReady },
  };
}

/** From the first moment on: whoever has read that it listens may send a signal. */
function endOnSignals(starting: Promise<Gateway>, log: Log): void {
  let isEnding = false;
  const end = async (signal: 'SIGTERM' | 'SIGINT') => {
    if (isEnding) {
      log.warn({ signal }, 'second signal, ending at once');
      process.exit(128 + constants.signals[signal]);
    }
    isEnding = true;
    log.info({ signal }, 'draining');
    await (await starting).close();
    log.info('ended');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end(signal));
}
