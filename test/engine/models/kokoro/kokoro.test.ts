import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPronunciation } from '../../../../engine/models/hibari/pronunciation.ts';
import { findInstalled } from '../../../../engine/models/installed.ts';
import { costHere } from '../../../../engine/models/kokoro/cost.ts';
import { openKokoro } from '../../../../engine/models/kokoro/kokoro.ts';
import { listNpz } from '../../../../engine/models/kokoro/npz.ts';
import { listStyles, readStyles, STYLE_SIZE, STYLES } from '../../../../engine/models/kokoro/styles.ts';
import { Lexicon } from '../../../../engine/models/lexicon.ts';
import { speakWhole } from '../../../../engine/models/speak-whole.ts';
import { runThrough } from '../../../../engine/scheduler.ts';
import { TEST_MODELS_DIR, whyNotRun } from '../../../helpers/installed-models.ts';
import { npzArchive } from '../../../helpers/npz-archive.ts';

const NOT_RUN = whyNotRun('kokoro') || whyNotRun('hibari');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kokoro-'));
});
afterEach(() => rm(folder, { recursive: true }));

function table(value: number): Buffer {
  return Buffer.from(new Float32Array(STYLES * STYLE_SIZE).fill(value).buffer);
}

describe('the voices of Kokoro', () => {
  it('are the English ones of a folder of files', async () => {
    await mkdir(join(folder, 'voices'));
    for (const name of ['bm_george', 'af_heart', 'jf_alpha', '../x'])
      if (!name.includes('/')) await writeFile(join(folder, 'voices', `${name}.bin`), table(name.length));
    const voices = await listStyles(folder);
    expect(voices.map(({ name, accent }) => [name, accent])).toEqual([
      ['af_heart', 'us'],
      ['bm_george', 'gb'],
    ]);
    const [heart] = voices;
    if (heart === undefined) throw new Error('there is no voice');
    expect((await readStyles(heart))[STYLE_SIZE]).toBe('af_heart'.length);
  });

  it('are the English ones of an archive', async () => {
    await writeFile(
      join(folder, 'voices-v1.0.npz'),
      npzArchive({ zf_xiaobei: table(1), am_adam: table(2), af_sky: table(3) }),
    );
    const voices = await listStyles(folder);
    expect(voices.map(({ name }) => name)).toEqual(['af_sky', 'am_adam']);
    expect((await readStyles(voices[1] ?? { name: '', accent: 'us', file: '', entry: null }))[1000]).toBe(2);
  });

  it('say so where a file is of another size, or no archive', async () => {
    await mkdir(join(folder, 'voices'));
    await writeFile(join(folder, 'voices', 'af_heart.bin'), Buffer.alloc(1000));
    const [heart] = await listStyles(folder);
    if (heart === undefined) throw new Error('there is no voice');
    await expect(readStyles(heart)).rejects.toThrow('the voice af_heart has 250 numbers, expected 130560');
    expect(() => listNpz(Buffer.alloc(100))).toThrow('expected a zip archive');
    const archive = npzArchive({ af_sky: table(3) });
    expect(() => listNpz(Buffer.concat([archive.subarray(5000), archive.subarray(-22)]))).toThrow(/damaged|outside/);
  });
});

describe('the cost', () => {
  it('is measured once on a machine', async () => {
    let measured = 0;
    const measure = async () => {
      measured++;
      return 0.954;
    };
    const key = { model: 'abc', cacheDir: join(folder, 'cache') };
    expect([await costHere(key, measure), await costHere(key, measure)]).toEqual([0.95, 0.95]);
    expect(measured).toBe(1);
    await costHere({ ...key, model: 'abd' }, measure);
    expect(measured).toBe(2);
  });
});

describe.skipIf(NOT_RUN !== '')(`kokoro${NOT_RUN}`, () => {
  it('speaks beside the thread of the engine', { timeout: 300_000 }, async () => {
    const [kokoro] = findInstalled(TEST_MODELS_DIR, 'kokoro');
    const [hibari] = findInstalled(TEST_MODELS_DIR, 'hibari');
    if (kokoro === undefined || hibari === undefined) throw new Error('a model is not there');
    const pronunciation = await openPronunciation(hibari.folder, new Lexicon([]));
    const tts = await openKokoro(kokoro, { pronunciation, cacheDir: folder, progress: () => undefined });
    if (tts === null) throw new Error('there is no voice');
    const heart = tts.voices.find(({ name }) => name === 'kokoro:af_heart');
    expect(heart).toMatchObject({ language: 'en-US', rateHz: 24_000, licence: 'Apache-2.0' });
    expect(heart?.cost).toBeGreaterThan(0.05);
    let turns = 0;
    const count = setInterval(() => turns++, 20);
    const line = { text: 'Hello.', voice: 'kokoro:af_heart', speed: 1 };
    const { samples } = await runThrough(speakWhole(tts, line));
    clearInterval(count);
    expect(turns).toBeGreaterThan(3);
    expect(samples.length / 24_000).toBeGreaterThan(0.4);
    expect(samples.length / 24_000).toBeLessThan(2);
    expect(Math.max(...samples)).toBeGreaterThan(2000);
  });
});
