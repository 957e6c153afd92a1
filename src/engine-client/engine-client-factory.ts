/** Engines as the operator's settings describe them. */
import { resolve } from 'node:path';
import type { EngineSettings } from '../../engine/contract.ts';
import { packagePath } from '../foundation/folders/paths.ts';
import { coresAvailable } from '../foundation/machine/cores.ts';
import { NO_FOLDER } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { EngineClient, type EngineClientOptions } from './engine-client.ts';
import { defaultWorkers } from './worker-count.ts';

/** The settings of the engines. */
export type EngineClientSettings = Pick<
  Settings,
  | 'ASR_MODEL'
  | 'VAD_MODEL'
  | 'TTS_MODEL'
  | 'TURN_MODEL'
  | 'EXECUTION_PROVIDER'
  | 'CUDA_DEVICE'
  | 'ENGINE_THREADS'
  | 'MODEL_CACHE_DIR'
  | 'MODELS_DIR'
  | 'LEXICON_FILE'
  | 'ENGINE_WORKERS'
  | 'ENGINE_IDLE_MS'
>;

/**
 * Number of engine processes on a machine with `cores` cores. One GPU gets one, unless ENGINE_WORKERS says
 * otherwise.
 */
export function workersOf(
  settings: Pick<Settings, 'ENGINE_WORKERS' | 'EXECUTION_PROVIDER'>,
  cores: number = coresAvailable(),
): number {
  return settings.ENGINE_WORKERS || (settings.EXECUTION_PROVIDER === 'cuda' ? 1 : defaultWorkers(Math.floor(cores)));
}

/**
 * What is not the operator's to set: only benchmarks compare other values. A decoder run adds at most so many tokens,
 * some 20 ms of work, because nothing more urgent can begin while it goes on.
 */
export const FIXED_ENGINE_SETTINGS = { modelGraphs: 'rewritten', decodeRunTokens: 16 } as const;

/**
 * A client of engine processes built in `dist`. Starts none yet. `engineSettings` replace what `settings` say of the
 * engines.
 */
export function createEngineClient(
  settings: EngineClientSettings,
  wiring: Pick<EngineClientOptions, 'clock' | 'log' | 'metrics' | 'onRefused' | 'watcher'>,
  engineSettings: Partial<EngineSettings> = {},
): EngineClient {
  return new EngineClient({
    engineSettings: {
      role: 'live',
      asrModel: settings.ASR_MODEL.includes('/') ? resolve(settings.ASR_MODEL) : settings.ASR_MODEL,
      vadModel: settings.VAD_MODEL,
      ttsModel: settings.TTS_MODEL,
      turnModel: settings.TURN_MODEL,
      executionProvider: settings.EXECUTION_PROVIDER,
      cudaDevice: settings.CUDA_DEVICE,
      threads: settings.ENGINE_THREADS,
      modelCacheDir: settings.MODEL_CACHE_DIR,
      lexiconFile: settings.LEXICON_FILE === '' ? '' : resolve(settings.LEXICON_FILE),
      modelsDir: settings.MODELS_DIR === NO_FOLDER ? '' : settings.MODELS_DIR,
      ...FIXED_ENGINE_SETTINGS,
      ...engineSettings,
    },
    workers: workersOf(settings),
    cores: Math.max(Math.floor(coresAvailable()), 1),
    idleMs: settings.ENGINE_IDLE_MS,
    entry: packagePath('dist', 'engine', 'main.js'),
    ...wiring,
  });
}
