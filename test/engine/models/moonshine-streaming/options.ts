/** How tests open folders of Moonshine streaming. */
import type { StreamingOptions } from '../../../../engine/models/moonshine-streaming/load.ts';
import { TEST_CACHE_DIR } from '../../settings.ts';

export const STREAMING: StreamingOptions = {
  device: { provider: 'cpu' },
  threads: 1,
  graphs: 'rewritten',
  cacheDir: TEST_CACHE_DIR,
  progress: () => undefined,
};
