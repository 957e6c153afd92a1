/** Builds the parts of a gateway from its settings and connects them. Nothing listens yet, and no engine runs. */
import type { FastifyInstance } from 'fastify';
import type { OneUseStore } from '../calls/admission/shared-one-use.ts';
import { audioFetcher } from '../calls/app/audio-fetch.ts';
import type { CallFlows } from '../calls/app/call-flows.ts';
import { AppReachability } from '../calls/app/reachability.ts';
import type { AppServices } from '../calls/app/services.ts';
import { TwimlClient } from '../calls/app/twiml/client.ts';
import { Handovers } from '../calls/app/twiml/handovers.ts';
import type { CallTracer } from '../calls/call-tracer.ts';
import { CallTranscripts } from '../calls/call-transcripts.ts';
import type { Feed } from '../calls/feed/feed.ts';
import { languageCheck } from '../calls/language/language-check.ts';
import { type Numbers, openNumbers } from '../calls/language/numbers.ts';
import { CallRegistry } from '../calls/registry.ts';
import { WebSocketTrunk } from '../carriers/shared/websocket/trunk.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { ClusterFeed } from '../cluster/feed/cluster-feed.ts';
import type { PostgresCluster } from '../cluster/postgres-cluster.ts';
import type { SharedState } from '../cluster/state/shared-state.ts';
import { createEngineClient, finalWorkersOf, workersOf } from '../engine-client/engine-client-factory.ts';
import type { ManagedEngine } from '../engine-client/managed-engine.ts';
import { engineMemory } from '../engine-client/memory-budget.ts';
import type { EngineStartListener } from '../engine-client/start-listener.ts';
import { type Clock, systemClock } from '../foundation/clock.ts';
import type { Lead } from '../foundation/leadership.ts';
import { type Log, logState } from '../foundation/log/log.ts';
import { askGpuName } from '../foundation/machine/gpu-name.ts';
import { ThreadUse } from '../foundation/machine/thread-use.ts';
import { Metrics } from '../foundation/metrics.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { GatewayHealth } from '../http/health.ts';
import { Listeners } from '../listening/listeners.ts';
import type { OpenPart, Part } from '../parts/part.ts';
import type { Services } from '../parts/services.ts';
import { Recordings } from '../recordings/recordings.ts';
import { Translator } from '../recordings/translate.ts';
import { CallUpkeep } from '../records/call-upkeep.ts';
import { openFeed, sentenceFilter } from '../records/open-feed.ts';
import { type OpenedRecords, openRecords } from '../records/open-records.ts';
import type { Records } from '../records/records.ts';
import { releaseEnded } from '../records/redaction/release-ended.ts';
import { openPeople } from '../records/users/open-people.ts';
import type { People } from '../records/users/people.ts';
import { openSpeech, type Speech } from '../speech/speech.ts';
import { voiceCheck } from '../speech/voice-check.ts';
import { voiceInUse } from '../speech/voice-in-use.ts';
import { createServer } from './server.ts';
import { systemSources } from './system-sources.ts';

/** What a gateway consists of. */
export interface Parts {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly engineClient: ManagedEngine;
  readonly speech: Speech;
  readonly feed: Feed;
  readonly registry: CallRegistry;
  readonly listeners: Listeners;
  readonly recordings: Recordings;
  /** Null = nothing is kept of calls. */
  readonly records: Records | null;
  /** Deletes what is past its time; null = nothing is kept. */
  readonly upkeep: CallUpkeep | null;
  /** Stores what waits, closes the records and gives DATA_DIR up. */
  readonly closeRecords: () => Promise<void>;
  /** What is known of called numbers. */
  readonly numbers: Numbers;
  /** Who may sign in. */
  readonly people: People;
  /** Null = this gateway is alone. */
  readonly cluster: Cluster | null;
  /** Those that the settings want, by name. */
  readonly parts: ReadonlyMap<string, OpenPart>;
  readonly server: FastifyInstance;
}

interface WiringOptions {
  readonly log: Log;
  readonly onRefused: (message: string) => void;
  readonly engineWatcher: EngineStartListener | undefined;
  readonly isDraining: () => boolean;
  /** All parts that there are. */
  readonly list: readonly Part[];
}

/**
 * @throws ConfigError when the engines would need too much memory, or DATA_DIR, DATABASE_URL, HINTS_FILE, NUMBERS_FILE,
 * PROMPT_CACHE_DIR or PROMPTS_FILE cannot be used; Error when the database cannot be reached
 */
export async function buildParts(settings: Settings, options: WiringOptions): Promise<Parts> {
  const metrics = new Metrics();
  metrics.watchLog(logState);
  const kept = await openRecords({ settings, clock: systemClock, log: options.log, metrics });
  let cluster: PostgresCluster | null = null;
  let shared: SharedState | null = null;
  try {
    const database = kept.records?.database ?? null;
    if (settings.CLUSTER_KEY !== '') {
      const { openCluster } = await import('../cluster/open-cluster.ts');
      cluster = await openCluster(settings, { database, clock: systemClock, log: options.log, metrics });
      const { openSharedState } = await import('../cluster/state/shared-state.ts');
      shared = cluster && openSharedState(settings, { cluster, clock: systemClock });
    }
    return await buildAround({ kept, cluster, shared, metrics }, options);
  } catch (error) {
    await shared?.close();
    await cluster?.close();
    await kept.close();
    throw error;
  }
}

interface Begun {
  readonly kept: OpenedRecords;
  readonly cluster: PostgresCluster | null;
  readonly shared: SharedState | null;
  readonly metrics: Metrics;
}

async function buildAround({ kept, cluster, shared, metrics }: Begun, options: WiringOptions): Promise<Parts> {
  const { settings, records } = kept;
  const [log, clock] = [options.log, systemClock];
  const engine = openEngineClient(settings, { ...options, clock, metrics });
  const speech = await openSpeech({ settings, engine, metrics, clock, log, keeps: sentenceFilter(settings) });
  const { feed, exchange, feedArchive, beginFeed, closeFeed } = await openFeeds({ kept, cluster, metrics }, log);
  const { oneUse, claims } = shared ?? ALONE;
  const apps = openAppServices(settings, { clock, metrics, log, oneUse });
  const lead: Lead | null = cluster && ((role, handlers) => cluster.lead(role, handlers));
  const common = { settings, clock, log, metrics, lead };
  const numbers = await openNumbers(settings.NUMBERS_FILE, common);
  const stores = { soundTap: records?.sound ?? null, archive: records?.calls ?? null };
  const offers: Offers = { flows: null, tracer: null };
  const calls = { ...stores, numbers, oneUse, claims, engine, synthesizer: speech.calls, apps, feed };
  const thread = new ThreadUse(clock);
  const gauged = { threadUse: () => thread.share, messageWebhooks: records?.messageTargets ?? null };
  const registry = new CallRegistry(withOffers({ ...common, ...calls, ...gauged }, offers));
  records?.follow(feed, registry);
  if (cluster !== null) await tieIn(cluster, { records, feed, exchange, registry, engine });
  if (settings.REDACT === 'store') releaseEnded({ feed, registry, recorder: records?.recorder ?? null });
  const upkeep = records && new CallUpkeep({ ...common, records, feed, sentences: speech, sound: records.sound });
  const storing = { records, stored: stores.archive, feedArchive, sound: stores.soundTap, kept: upkeep };
  const translator = new Translator({ settings, clock });
  const recordings = new Recordings({ settings, engine, clock, metrics });
  const gpuName = askGpuName();
  const people = await openPeople(settings, { clock, log, records, mayHaveUsers: kept.mayHaveUsers });
  const listeners = new Listeners({ ...common, engine, isDraining: options.isDraining });
  engine.keepWhile(() => registry.liveCount > 0 || listeners.count > 0);
  const findCall = async (id: string) => registry.get(id) ?? records?.calls.get(id);
  const webSockets = new WebSocketTrunk({ registry, feed, settings, clock });
  const used = { engine, registry, apps, listeners, recordings, translator, speech, findCall, webSockets };
  const known = { oneUse: shared?.oneUse ?? null, isDraining: options.isDraining };
  const ofTenants = { feed: { of: () => feed }, store: { of: () => upkeep } };
  const services = withOffers({ ...common, ...used, ...known, ...ofTenants }, offers);
  const parts = await openParts(options.list, services, offers);
  const server = await createServer({
    ...common,
    people,
    others: shared,
    ...storing,
    ...used,
    feed,
    transcripts: new CallTranscripts({ calls: registry, archive: stores.archive }),
    parts: [...parts.values()],
    system: systemSources({ settings, registry, engine, apps, records, upkeep, cluster, clock }),
    health: () => describeHealth(options.isDraining(), { engine, settings, upkeep, exchange, gpuName: gpuName() }),
  });
  const work = { speech, feed, registry, listeners, recordings, numbers, records, upkeep, parts };
  await beginFeed();
  const closeRecords = () =>
    closeInTurn([() => kept.close(), closeFeed, () => shared?.close(), () => cluster?.close()]);
  return { ...work, people, cluster, server, clock, metrics, engineClient: engine, closeRecords };
}

/** Those that the settings want. The ones that are open are closed where another cannot be. */
async function openParts(list: readonly Part[], services: Services, offers: Offers) {
  const opened = new Map<string, OpenPart>();
  try {
    for (const part of list) {
      if (part.isOn?.(services.settings) === false) continue;
      const open = await part.open(services);
      opened.set(part.name, open);
      offers.flows ??= open.flows ?? null;
      offers.tracer ??= open.tracer ?? null;
    }
    return opened;
  } catch (error) {
    for (const part of opened.values()) await part.close?.();
    for (const part of opened.values()) await part.release?.();
    throw error;
  }
}

/** What parts offer to calls. They are opened after the calls' registry, and before anything listens. */
interface Offers {
  flows: CallFlows | null;
  tracer: CallTracer | null;
}

/** `context` with what parts offer by then. */
function withOffers<T extends object>(context: T, offers: Offers): T & Readonly<Offers> {
  return Object.defineProperties(context as T & Offers, {
    flows: { get: () => offers.flows, enumerable: true },
    tracer: { get: () => offers.tracer, enumerable: true },
  });
}

/** The feed: that of all gateways, or of this one where it is alone. @throws ConfigError; the error of the database */
async function openFeeds({ kept, cluster, metrics }: Pick<Begun, 'kept' | 'cluster' | 'metrics'>, log: Log) {
  const { settings, records } = kept;
  const clock = systemClock;
  if (cluster === null || records === null) {
    const { feed, close } = openFeed(settings, { clock });
    const feedArchive = records?.calls ?? null;
    return { feed, exchange: null, feedArchive, beginFeed: async () => undefined, closeFeed: close };
  }
  const { database, calls: stored } = records;
  const onDeclaredDead = () => cluster.noteDeath();
  const parts = { gateway: cluster.id, database, stored, onDeclaredDead, clock, log, metrics: metrics.clusterFeed };
  const { openClusterFeed } = await import('../cluster/feed/open-cluster-feed.ts');
  const { exchange, archive: feedArchive } = await openClusterFeed(settings, parts);
  const { feed, close } = openFeed(settings, { epoch: cluster.id, exchange, clock });
  const closeFeed = () => exchange.close().finally(close);
  return { feed, exchange, feedArchive, beginFeed: () => exchange.open(feed), closeFeed };
}

/** What a gateway without others shares. */
const ALONE = { oneUse: null, claims: null } as const;

interface Shared extends Pick<Parts, 'records' | 'feed' | 'registry'> {
  readonly engine: ManagedEngine;
  readonly exchange: ClusterFeed | null;
}

/** Records that other gateways write too: the calls of one that dies are ended by whoever notices it first. */
async function tieIn(cluster: PostgresCluster, { records, feed, exchange, registry, engine }: Shared): Promise<void> {
  const { ResumedCalls } = await import('../cluster/resumed-calls.ts');
  cluster.report(() => ({ live: registry.liveCount, maxCalls: registry.callsMax, firmLoad: engine.firmLoad }));
  records?.share(
    () => cluster.isHeard,
    feed,
    () => registry.list(),
  );
  // A database that refuses is asked again with the next heartbeat.
  cluster.onOrphans = async () => records?.endLostCalls(feed).catch(() => undefined);
  const lastedMs = (callId: string) => {
    const call = registry.get(callId);
    return call === undefined || call.state === 'ended' ? null : call.durationMs;
  };
  const resumed = new ResumedCalls({ feed, lastedMs });
  cluster.returner = {
    held: () => records?.recorder.held() ?? [],
    resume: (back) => {
      exchange?.resume(back);
      records?.recorder.resume(back.stored);
      resumed.resume(back.ended);
    },
  };
}

/** Each of them, also when one before it fails. */
async function closeInTurn([first, ...rest]: readonly (() => unknown)[]): Promise<void> {
  try {
    await first?.();
  } finally {
    if (rest.length > 0) await closeInTurn(rest);
  }
}

interface HealthParts extends Pick<Parts, 'upkeep'>, Pick<GatewayHealth, 'gpuName'>, Pick<Shared, 'exchange'> {
  readonly engine: ManagedEngine;
  readonly settings: Settings;
}

function describeHealth(
  draining: boolean,
  { engine, settings, upkeep, exchange, gpuName }: HealthParts,
): GatewayHealth {
  const { recogniser, final } = engine.status;
  return {
    draining,
    gpuName,
    ...describeRecords(upkeep, exchange?.trouble ?? null),
    engine: engine.status,
    finalEngine: final,
    recognisers: { live: recogniser, final: final?.recogniser ?? null },
    voice: voiceInUse(settings, engine.voices),
    turnModel: engine.turnModel,
  };
}

/** A database that is only away keeps no calls out: they go on, and no other gateway would be better off. */
function describeRecords(
  upkeep: CallUpkeep | null,
  ofFeed: string | null,
): Pick<GatewayHealth, 'records' | 'warnings'> {
  if (upkeep === null) return { records: null, warnings: [] };
  const warnings = ofFeed === null ? upkeep.warnings : [...upkeep.warnings, ofFeed];
  const { trouble } = upkeep.records.recorder;
  if (trouble === null) return { records: null, warnings };
  if (trouble.reason !== 'unreachable') return { records: trouble.message, warnings };
  return { records: null, warnings: [...warnings, `the records cannot be written: ${trouble.message}`] };
}

/** @throws ConfigError where the engines would need more memory than there is */
function requireMemory(settings: Settings): void {
  const wanted = { workers: workersOf(settings), finalWorkers: finalWorkersOf(settings) };
  const problem = engineMemory(settings, wanted)?.problem ?? null;
  if (problem !== null) throw new ConfigError([problem]);
}

interface ServiceParts extends Pick<Parts, 'clock' | 'metrics'> {
  readonly log: Log;
  readonly oneUse: OneUseStore | null;
}

/** What calls with apps need of other servers. */
function openAppServices(settings: Settings, parts: ServiceParts): AppServices {
  return {
    fetchAudio: audioFetcher(settings, parts.clock),
    twiml: new TwimlClient({ settings, ...parts }),
    handovers: new Handovers(parts.clock, parts.oneUse),
    reachability: new AppReachability(parts.clock),
  };
}

/** The engines, none of them started. The first that is ready tells whether the voices of the settings exist. */
function openEngineClient(
  settings: Settings,
  { clock, log, metrics, onRefused, engineWatcher }: WiringOptions & Pick<Parts, 'clock' | 'metrics'>,
): ManagedEngine {
  requireMemory(settings);
  const checkVoice = voiceCheck(settings, { log, onRefused, voices: () => engineClient.voices });
  const checkLanguage = languageCheck(settings, { log, onRefused, languages: () => engineClient.languages });
  const onReady: EngineStartListener['onReady'] = (...how) => {
    checkVoice();
    checkLanguage();
    engineWatcher?.onReady(...how);
  };
  const onProgress = (text: string) => engineWatcher?.onProgress(text);
  const engineClient: ManagedEngine = createEngineClient(settings, {
    clock,
    log,
    metrics,
    onRefused,
    watcher: { onProgress, onReady },
  });
  return engineClient;
}
