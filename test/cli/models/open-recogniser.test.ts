/** The check of a recogniser's folder before it is installed, by a real engine process. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QWEN_LANGUAGES } from '../../../engine/models/qwen3-asr/languages.ts';
import { openRecogniser } from '../../../src/cli/models/open-recogniser.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-open-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (path: string) =>
  openRecogniser(path, readSettings({ MODELS_DIR: 'none', MODEL_CACHE_DIR: join(folder, 'cache') }));

describe('openRecogniser', () => {
  it.each([
    ['moonshine-streaming', 'ort-split', 'small-streaming-de/quantized_26_08_24', ['de']],
    ['parakeet-tdt', 'int8', 'anything', ['en']],
    ['qwen3-asr', 'int8', 'any', [...QWEN_LANGUAGES]],
    ['whisper', 'window-int8', 'any', ['en', 'de', 'zh', 'jv']],
  ])('opens %s, and says what it understands', async (family, layout, name, languages) => {
    const own = join(folder, name);
    cpSync(packagePath('fixtures', 'models', family, layout), own, { recursive: true });
    rmSync(join(own, 'bridge.json'));
    expect((await open(own)).toSorted()).toEqual(languages.toSorted());
  });

  it('says what is wrong with a folder that the engine refuses', async () => {
    const own = join(folder, 'broken');
    cpSync(packagePath('fixtures', 'models', 'moonshine-streaming', 'ort-split'), own, { recursive: true });
    writeFileSync(join(own, 'streaming_config.json'), '{"depth": 0}');
    await expect(open(own)).rejects.toThrow('depth: got 0, expected a whole number from 1 to 64');
  });
});
