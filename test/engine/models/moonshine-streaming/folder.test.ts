import { cpSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRecogniser } from '../../../../engine/models/find-recogniser.ts';
import { MODEL_TABLE } from '../../../../engine/models/model-table.ts';
import { languageOfFolder } from '../../../../engine/models/moonshine-streaming/file-names.ts';
import { readStreamingFolder } from '../../../../engine/models/moonshine-streaming/layout.ts';
import { loadMoonshineStreaming } from '../../../../engine/models/moonshine-streaming/load.ts';
import { Refusal } from '../../../../engine/refusal.ts';
import { packagePath } from '../../../../src/foundation/folders/paths.ts';

import { STREAMING } from './options.ts';

const FIXTURE = packagePath('fixtures', 'models', 'moonshine-streaming', 'onnx');

let parent = '';
let folder = '';

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'trunkline-streaming-'));
  folder = join(parent, 'tiny-streaming-de', 'quantized_26_08_24');
  mkdirSync(join(parent, 'tiny-streaming-de'));
  cpSync(FIXTURE, folder, { recursive: true });
  rmSync(join(folder, 'bridge.json'));
});

afterEach(() => rmSync(parent, { recursive: true }));

const load = () => loadMoonshineStreaming(folder, STREAMING);

async function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  const error = await work.then(() => null).catch((reason: unknown) => reason);
  if (error instanceof Refusal) return error;
  throw new Error(`it was not refused: ${error}`);
}

describe('a folder of Moonshine streaming', () => {
  it('is known by its files, and its language by its name', async () => {
    const found = findRecogniser(MODEL_TABLE, folder, { modelsDir: '', setting: 'ASR_MODEL' });
    expect(found).toMatchObject({ row: { name: 'moonshine-streaming' }, folder });
    const loaded = await load();
    expect(loaded.languages).toEqual(['de']);
    expect(loaded.abilities).toMatchObject({ drafts: true, wordTimes: false, hotWords: true, textDrafts: true });
    expect(loaded.asr).toMatchObject({ name: 'quantized_26_08_24', vocabularySize: 160 });
  });

  it('costs the more the larger its graphs are', async () => {
    const { cost } = await load();
    writeFileSync(join(folder, 'encoder.onnx.data'), '');
    truncateSync(join(folder, 'encoder.onnx.data'), 100e6);
    const larger = (await load()).cost;
    expect(larger.perSecondMs - cost.perSecondMs).toBeCloseTo(21);
    expect(larger.perJobMs - cost.perJobMs).toBeCloseTo(8);
  });

  it.each([
    ['/models/small-streaming-es', 'es'],
    ['/models/tiny-streaming-zh/quantized_26_08_24', 'zh'],
    ['/models/mine', null],
  ])('named %s is of the language %s', (path, language) => {
    expect(languageOfFolder(path)).toBe(language);
  });

  it.each(['encoder', 'adapter', 'cross_kv', 'decoder_kv', 'frontend'])('is refused without %s', async (name) => {
    rmSync(join(folder, `${name}.onnx`));
    const { code, message } = await refusalOf(readStreamingFolder(folder));
    expect(code).toBe('model_missing');
    expect(message).toContain(`${folder} has no ${name}.onnx and no ${name}.ort; expected frontend, encoder`);
  });

  it.each([
    ['{', 'got something that is not JSON, expected an object'],
    ['[]', 'got an array of 0, expected an object'],
    ['{"depth":6}', 'vocab_size: got nothing, expected a whole number from 4 to 1000000'],
    ['{"depth":"six"}', 'depth: got "six", expected a whole number from 1 to 64'],
    ['{"depth":2,"vocab_size":9,"nheads":4,"head_dim":4,"eos_id":9}', 'eos_id: got 9, expected a whole number from 0'],
  ])('is refused with the config %s', async (text, expected) => {
    writeFileSync(join(folder, 'streaming_config.json'), text);
    const { code, message } = await refusalOf(readStreamingFolder(folder));
    expect(code).toBe('bad_settings');
    expect(message).toContain(`${join(folder, 'streaming_config.json')}: ${expected}`);
  });

  it.each([
    [Buffer.alloc(0), 'got an empty file, expected tokens'],
    [Buffer.from([5, 65]), 'token 0: got 1 bytes up to the end of the file, expected 5'],
    [Buffer.alloc(2 * 161, Buffer.from([1, 65])), 'got more than 160 tokens'],
  ])('is refused with wrong tokens', async (bytes, expected) => {
    writeFileSync(join(folder, 'tokenizer.bin'), bytes);
    const { message } = await refusalOf(readStreamingFolder(folder));
    expect(message).toContain(`${join(folder, 'tokenizer.bin')}: ${expected}`);
  });

  it('is refused with a graph that is none, or another one', async () => {
    writeFileSync(join(folder, 'encoder.onnx'), 'not a graph');
    expect((await refusalOf(load())).message).toContain(`the graphs in ${folder} cannot be opened`);
    cpSync(join(FIXTURE, 'encoder.onnx'), join(folder, 'encoder.onnx'));
    cpSync(join(FIXTURE, 'adapter.onnx'), join(folder, 'frontend.onnx'));
    expect((await refusalOf(load())).message).toContain('frontend needs the input encoded, which nothing gives');
  });
});
