/** Engine settings for tests. */
import type { EngineSettings } from '../../engine/contract.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';

/** Where tests keep rewritten graphs from one run to the next. */
export const TEST_CACHE_DIR = packagePath('node_modules', '.cache', 'trunkline');

/** Pretend models. */
export const TONE: EngineSettings = Object.freeze({
  role: 'live',
  asrModel: 'tone',
  vadModel: 'tone',
  ttsModel: 'tone',
  turnModel: 'off',
  executionProvider: 'cpu',
  cudaDevice: 0,
  threads: 1,
  modelGraphs: 'rewritten',
  modelCacheDir: TEST_CACHE_DIR,
  modelsDir: '',
  lexiconFile: '',
  decodeRunTokens: 16,
});
