/** A link as the operator's settings want it. */

import { packagePath } from '../foundation/folders/paths.ts';
import { coresAvailable } from '../foundation/machine/cores.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { EngineClient, type EngineClientOptions } from './engine-client.ts';
import { defaultWorkers } from './workers.ts';

/**
 * Engine processes that `settings` ask for where so many `cores` are ours. One GPU gets one, unless ENGINE_WORKERS says
 * otherwise.
 */
export function workersOf(settings: Settings, cores: number = coresAvailable()): number {
  return settings.ENGINE_WORKERS || (settings.EXECUTION_PROVIDER === 'cuda' ? 1 : defaultWorkers(Math.floor(cores)));
}

/** A link to engine processes built in `dist`. Starts none yet. */
export function createEngineClient(
  settings: Settings,
  wiring: Pick<EngineClientOptions, 'clock' | 'log' | 'metrics' | 'onRefused' | 'watcher'>,
): EngineClient {
  return new EngineClient({
    engineSettings: {
      asrModel: settings.ASR_MODEL,
      vadModel: settings.VAD_MODEL,
      ttsModel: settings.TTS_MODEL,
      executionProvider: settings.EXECUTION_PROVIDER,
      cudaDevice: settings.CUDA_DEVICE,
      threads: settings.ENGINE_THREADS,
      modelGraphs: settings.MODEL_GRAPHS,
      modelCacheDir: settings.MODEL_CACHE_DIR,
      decodeRunTokens: settings.DECODE_RUN_TOKENS,
    },
    workers: workersOf(settings),
    cores: Math.max(Math.floor(coresAvailable()), 1),
    idleMs: settings.ENGINE_IDLE_MS,
    entry: packagePath('dist', 'engine', 'main.js'),
    ...wiring,
  });
}
