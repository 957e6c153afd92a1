import { readdirSync } from 'node:fs';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHibari } from '../../../../engine/models/hibari/hibari.ts';
import { openPronunciation } from '../../../../engine/models/hibari/pronunciation.ts';
import { idsOf, readVocabulary, readVoices } from '../../../../engine/models/hibari/voice-files.ts';
import { findInstalled } from '../../../../engine/models/installed.ts';
import { Lexicon } from '../../../../engine/models/lexicon.ts';
import { speakWhole } from '../../../../engine/models/speak-whole.ts';
import { runThrough } from '../../../../engine/scheduler.ts';
import { TEST_MODELS_DIR, whyNotRun } from '../../../helpers/installed-models.ts';

const NOT_RUN = whyNotRun('hibari');
const HEART = { language: 'en-US', file: 'hibari.onnx', british: false };
const EMMA = { language: 'en-GB', file: 'bf_emma.int8.onnx', british: true };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hibari-'));
});
afterEach(() => rm(folder, { recursive: true }));

function write(name: string, content: unknown): Promise<void> {
  return writeFile(join(folder, name), JSON.stringify(content));
}

describe('the voices of a folder', () => {
  it('are those of the list whose files are there', async () => {
    await write('voices.json', { heart: HEART, emma: EMMA });
    await writeFile(join(folder, 'hibari.onnx'), '');
    expect((await readVoices(folder)).map(({ name }) => name)).toEqual(['heart']);
    await writeFile(join(folder, 'bf_emma.int8.onnx'), '');
    expect(await readVoices(folder)).toEqual([
      { name: 'heart', language: 'en-US', accent: 'us', file: join(folder, 'hibari.onnx') },
      { name: 'emma', language: 'en-GB', accent: 'gb', file: join(folder, 'bf_emma.int8.onnx') },
    ]);
  });

  it.each([
    { heart: { ...HEART, file: '../hibari.onnx' } },
    { heart: { ...HEART, british: 'no' } },
    { 'he art': HEART },
    { heart: null },
  ])('are refused where the list is not as expected: %j', async (list) => {
    await write('voices.json', list);
    await expect(readVoices(folder)).rejects.toThrow(
      /^voices.json: got "he ?art", expected language, file and british/,
    );
  });

  it('have phonemes with numbers; others are left out', async () => {
    await write('vocab.json', { a: 1, ˈ: 7 });
    expect(idsOf('ˈa?a', await readVocabulary(folder))).toEqual([7, 1, 1]);
    await write('vocab.json', { ab: 1 });
    await expect(readVocabulary(folder)).rejects.toThrow(
      'vocab.json: got "ab", expected characters with whole numbers',
    );
  });
});

describe.skipIf(NOT_RUN !== '')(`a further voice${NOT_RUN}`, () => {
  it('speaks British English when its file is put into the folder', async () => {
    const [model] = findInstalled(TEST_MODELS_DIR, 'hibari');
    if (model === undefined) throw new Error('hibari is not there');
    for (const file of readdirSync(model.folder)) await symlink(join(model.folder, file), join(folder, file));
    await copyFile(join(model.folder, 'hibari.onnx'), join(folder, EMMA.file));
    const tts = await openHibari({ folder, bridge: model.bridge }, await openPronunciation(folder, new Lexicon([])));
    expect(tts?.voices.map(({ name, language }) => [name, language])).toEqual([
      ['hibari:heart', 'en-US'],
      ['hibari:emma', 'en-GB'],
    ]);
    if (tts === null) return;
    const say = async (voice: string) =>
      (await runThrough(speakWhole(tts, { text: 'We cannot dance in the bath.', voice, speed: 1 }))).samples;
    const [heart, emma] = [await say('hibari:heart'), await say('hibari:emma')];
    expect(emma.length).toBeGreaterThan(20_000);
    expect(emma).not.toEqual(heart);
  });
});
