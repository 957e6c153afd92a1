import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadModels } from '../../../engine/models/load-models.ts';
import { MODEL_TABLE } from '../../../engine/models/model-table.ts';
import type { ForcedAligner } from '../../../engine/models/qwen3-asr/aligner/aligner.ts';
import { openAligner } from '../../../engine/models/qwen3-asr/aligner/folder.ts';
import { wordsToAlign } from '../../../engine/models/qwen3-asr/aligner/words.ts';
import { runThrough } from '../../../engine/scheduler.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { TEST_CACHE_DIR, TONE } from '../../engine/settings.ts';
import { makeClip } from './parakeet-clips.ts';

const FOLDER = packagePath('fixtures', 'models', 'qwen3-asr');

/** What transformers made of clips and their words: fixtures/models/qwen3-asr/README.md. */
const { clips, alignments } = JSON.parse(readFileSync(`${FOLDER}/cases.json`, 'utf8')) as {
  readonly clips: readonly { readonly seconds: number }[];
  readonly alignments: readonly {
    readonly clip: number;
    readonly words: readonly string[];
    readonly timesMs: readonly number[];
  }[];
};

const CPU = { provider: 'cpu' } as const;

let aligner: ForcedAligner;
beforeAll(async () => {
  const session = { device: CPU, threads: 1, cacheDir: TEST_CACHE_DIR, progress: () => undefined };
  const found = await openAligner(`${FOLDER}/float`, session, { isWindowed: true, isRounded: false, batchMax: 1 });
  if (found === null) throw new Error('the fixture has no aligner');
  aligner = found;
});

describe('the forced aligner of Qwen3', () => {
  it.each(alignments)('says of clip $clip when its words were said, as transformers does', async (one) => {
    const samples = makeClip(one.clip, clips[one.clip]?.seconds ?? 0);
    const words = await runThrough(aligner.align(samples, one.words.join(' '), 'en-US'));
    expect(words?.map(({ text }) => text)).toEqual(one.words);
    expect(words?.flatMap(({ startMs, endMs }) => [startMs, endMs])).toEqual(one.timesMs);
  });

  it('says nothing of languages whose words it cannot cut, of too much speech, and of no words', async () => {
    const samples = makeClip(0, 1);
    expect(await runThrough(aligner.align(samples, 'こんにちは', 'ja'))).toBeNull();
    expect(await runThrough(aligner.align(new Int16Array(181 * 16_000), 'hello', 'en'))).toBeNull();
    expect(await runThrough(aligner.align(samples, 'a '.repeat(2001), 'en'))).toBeNull();
    expect(await runThrough(aligner.align(samples, ' … ', 'en'))).toEqual([]);
  });

  it('is not there where a folder has none', async () => {
    const session = { device: CPU, threads: 1, cacheDir: TEST_CACHE_DIR, progress: () => undefined };
    expect(
      await openAligner(`${FOLDER}/int8`, session, { isWindowed: true, isRounded: false, batchMax: 1 }),
    ).toBeNull();
  });
});

describe('a recogniser with an aligner in its folder', () => {
  it('says so, and when the words of its text were said', async () => {
    const settings = { ...TONE, asrModel: `${FOLDER}/float` };
    const { asr, abilities } = await loadModels(MODEL_TABLE, settings, () => undefined);
    expect(abilities.wordTimes).toBe(true);
    const samples = makeClip(6, clips[6]?.seconds ?? 0);
    const { text, words = [] } = await runThrough(asr.transcribe(samples, [], { timed: true, language: 'en' }));
    expect(words.length).toBeGreaterThan(0);
    expect(words.map((word) => word.text)).toEqual(wordsToAlign(text).map((word) => word.text));
    const plain = await loadModels(MODEL_TABLE, { ...TONE, asrModel: `${FOLDER}/int8` }, () => undefined);
    expect(plain.abilities.wordTimes).toBe(false);
  });
});
