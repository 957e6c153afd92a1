/** Engines as the operator's settings describe them. */
import { resolve } from 'node:path';
import type { EngineSettings } from '../../engine/contract.ts';
import { packagePath } from '../foundation/folders/paths.ts';
import { coresAvailable } from '../foundation/machine/cores.ts';
import { ConfigError, NO_FOLDER } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { BatchHold } from './batch-hold.ts';
import { findCpuProblem } from './cpu-pinning.ts';
import { EngineClient, type EngineClientOptions } from './engine-client.ts';
import type { ManagedEngine } from './managed-engine.ts';
import { RecogniserPair } from './recogniser-pair.ts';
import { openMembers, openSpeakers } from './remote/open-members.ts';
import { RemoteEngine } from './remote/remote-engine.ts';
import { RemoteSpeech } from './remote/remote-speech.ts';
import type { EngineStartListener } from './start-listener.ts';
import { defaultWorkers, pinnedWorkers } from './worker-count.ts';

/** The settings of the engines. */
export type EngineClientSettings = Pick<
  Settings,
  | 'ASR_MODEL'
  | 'ASR_FINAL_MODEL'
  | 'VAD_MODEL'
  | 'TTS_MODEL'
  | 'TURN_MODEL'
  | 'EXECUTION_PROVIDER'
  | 'CUDA_DEVICE'
  | 'ENGINE_THREADS'
  | 'MODEL_CACHE_DIR'
  | 'MODELS_DIR'
  | 'LEXICON_FILE'
  | 'ENGINE_CPUS'
  | 'ENGINE_WORKERS'
  | 'ENGINE_FINAL_WORKERS'
  | 'ENGINE_IDLE_MS'
  | 'ASR_URL'
  | 'ASR_API_KEY'
  | 'ASR_URL_MODEL'
  | 'TTS_URL'
  | 'TTS_API_KEY'
  | 'TTS_URL_MODEL'
>;

/** The settings that say how many engine processes there are. */
type WorkerSettings = Pick<Settings, 'ENGINE_CPUS' | 'ENGINE_WORKERS' | 'EXECUTION_PROVIDER' | 'CUDA_DEVICE'>;

/** Number of engine processes on a machine with `cores` cores. A GPU gets one, unless ENGINE_WORKERS says otherwise. */
export function workersOf(
  { ENGINE_CPUS, ENGINE_WORKERS, EXECUTION_PROVIDER, CUDA_DEVICE }: WorkerSettings,
  cores: number = coresAvailable(),
): number {
  if (ENGINE_WORKERS !== 0) return ENGINE_WORKERS;
  if (EXECUTION_PROVIDER === 'cuda') return CUDA_DEVICE.length;
  return ENGINE_CPUS.length > 0 ? pinnedWorkers(ENGINE_CPUS.length) : defaultWorkers(Math.floor(cores));
}

/**
 * What is not the operator's to set: only benchmarks compare other values. A decoder run adds at most so many tokens,
 * some 20 ms of work, because nothing more urgent can begin while it goes on.
 */
export const FIXED_ENGINE_SETTINGS = { modelGraphs: 'rewritten', decodeRunTokens: 16 } as const;

/** The engines of the second recogniser give way to voice detection and partial captions, as in nice(1). */
const FINAL_NICENESS = 5;

/** Number of engine processes with ASR_FINAL_MODEL; 0 where that is ASR_MODEL. */
export function finalWorkersOf(
  settings: WorkerSettings & Pick<Settings, 'ASR_FINAL_MODEL' | 'ENGINE_FINAL_WORKERS'>,
  cores: number = coresAvailable(),
): number {
  if (settings.ASR_FINAL_MODEL === '') return 0;
  return settings.ENGINE_FINAL_WORKERS || Math.max(Math.floor(workersOf(settings, cores) / 2), 1);
}

type EngineWiring = Pick<EngineClientOptions, 'clock' | 'log' | 'metrics' | 'onRefused' | 'watcher'>;

/**
 * Engine processes built in `dist`, of one kind, or of two where there is a second recogniser; and the servers of
 * ASR_URL. Starts none yet. `engineSettings` replace what `settings` say of the engines.
 * @throws ConfigError when the engines cannot run on ENGINE_CPUS
 */
export function createEngineClient(
  settings: EngineClientSettings,
  wiring: EngineWiring,
  engineSettings: Partial<EngineSettings> = {},
): ManagedEngine {
  const members = openMembers(settings, wiring);
  const speakers = openSpeakers(settings, wiring);
  if (members.length + speakers.length === 0) return createEmbedded(settings, wiring, engineSettings);
  const { watcher } = wiring;
  const ownWatcher: EngineStartListener = {
    onProgress: (text) => watcher?.onProgress(text),
    onReady: (ready, workers, models) => watcher?.onReady(ready, workers, { ...models, voices: engine.voices }),
  };
  const embedded = createEmbedded(settings, { ...wiring, watcher: ownWatcher }, engineSettings);
  const speech = speakers.length === 0 ? null : new RemoteSpeech({ embedded, speakers, ...wiring });
  const engine: RemoteEngine = new RemoteEngine({ embedded, members, speech, ...wiring });
  return engine;
}

function createEmbedded(
  settings: EngineClientSettings,
  wiring: EngineWiring,
  engineSettings: Partial<EngineSettings>,
): ManagedEngine {
  const cores = Math.max(Math.floor(coresAvailable()), 1);
  const hold = new BatchHold({ clock: wiring.clock, cores });
  const { ENGINE_IDLE_MS, CUDA_DEVICE: cudaDevices, ENGINE_CPUS: cpus } = settings;
  const unpinnable = findCpuProblem(cpus);
  if (unpinnable !== null) throw new ConfigError([unpinnable]);
  // What stands in for a server has to be warm when that one fails.
  const idleMs = settings.ASR_URL.length + settings.TTS_URL.length > 0 ? 0 : ENGINE_IDLE_MS;
  const shared = { hold, idleMs, cudaDevices, cpus, entry: packagePath('dist', 'engine', 'main.js'), ...wiring };
  const liveSettings = { ...engineSettingsOf(settings), ...engineSettings };
  const live = new EngineClient({ ...shared, engineSettings: liveSettings, workers: workersOf(settings) });
  if (settings.ASR_FINAL_MODEL === '') return live;
  const final = createFinal(settings, shared, { ...liveSettings, role: 'final' }, live);
  return new RecogniserPair({ live, final, ...wiring });
}

/** The engines with the second recogniser alone. */
function createFinal(
  settings: EngineClientSettings,
  shared: Omit<EngineClientOptions, 'engineSettings' | 'workers'>,
  engineSettings: EngineSettings,
  live: ManagedEngine,
): EngineClient {
  const final: EngineClient = new EngineClient({
    ...shared,
    engineSettings: { ...engineSettings, asrModel: recogniserOf(settings.ASR_FINAL_MODEL) },
    workers: finalWorkersOf(settings),
    niceness: FINAL_NICENESS,
    watcher: watcherOfFinal(shared.watcher, live),
    onRefused: (message) => {
      // What has worked before is missed, but calls go on without it.
      if (final.abilities === null) shared.onRefused(message);
      else shared.log.error(`ASR_FINAL_MODEL cannot be loaded any more: ${message}`);
    },
  });
  return final;
}

function engineSettingsOf(settings: EngineClientSettings): EngineSettings {
  return {
    role: 'live',
    asrModel: recogniserOf(settings.ASR_MODEL),
    vadModel: settings.VAD_MODEL,
    ttsModel: settings.TTS_MODEL,
    turnModel: settings.TURN_MODEL,
    executionProvider: settings.EXECUTION_PROVIDER,
    cudaDevice: settings.CUDA_DEVICE[0] ?? 0,
    threads: settings.ENGINE_THREADS,
    modelCacheDir: settings.MODEL_CACHE_DIR,
    lexiconFile: settings.LEXICON_FILE === '' ? '' : resolve(settings.LEXICON_FILE),
    modelsDir: settings.MODELS_DIR === NO_FOLDER ? '' : settings.MODELS_DIR,
    ...FIXED_ENGINE_SETTINGS,
  };
}

/** A name, or the absolute path of a folder. */
function recogniserOf(setting: string): string {
  return setting.includes('/') ? resolve(setting) : setting;
}

/**
 * Calls can be taken without the second recogniser: the first one's engines are counted. That there is one more is
 * told, for its languages are known from then on.
 */
function watcherOfFinal(watcher: EngineStartListener | undefined, live: ManagedEngine): EngineStartListener {
  return {
    onProgress: (text) => watcher?.onProgress(text),
    onReady: () => {
      const { ready, workers } = live.status;
      const { voices, turnModel } = live;
      if (ready > 0) watcher?.onReady(ready, workers, { voices, turnModel });
    },
  };
}
