import { cpSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatBridge } from '../../../engine/models/bridge.ts';
import { readParakeetFolder } from '../../../engine/models/parakeet/folder.ts';
import { findLayout } from '../../../engine/models/parakeet/layout.ts';
import { loadParakeet } from '../../../engine/models/parakeet/parakeet.ts';
import { Refusal } from '../../../engine/refusal.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';

let folder = '';

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'trunkline-parakeet-')), 'mine');
  cpSync(packagePath('fixtures', 'models', 'parakeet-tdt', 'int8'), folder, { recursive: true });
});

afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

const load = () => loadParakeet({ folder, threads: 1, graphs: 'rewritten' });

function refusalOf(): Refusal {
  try {
    readParakeetFolder(folder);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('the layout of a Parakeet folder', () => {
  it.each([
    [['encoder-model.onnx', 'decoder_joint-model.onnx', 'vocab.txt', 'nemo128.onnx'], 'istupakov'],
    [['encoder-model.int8.onnx', 'decoder_joint-model.int8.onnx', 'vocab.txt', 'config.json'], 'istupakov'],
    [['encoder.int8.onnx', 'decoder.int8.onnx', 'joiner.int8.onnx', 'tokens.txt'], 'sherpa'],
    [['encoder.onnx', 'encoder.weights', 'decoder.onnx', 'joiner.onnx', 'tokens.txt'], 'sherpa'],
  ])('of %j is %s', (files, kind) => {
    expect(findLayout(files)?.kind).toBe(kind);
  });

  it.each([
    [['encoder-model.onnx', 'vocab.txt']],
    [['encoder.onnx', 'decoder.onnx', 'tokens.txt']],
    [['encoder-epoch-99.onnx', 'decoder-epoch-99.onnx', 'joiner-epoch-99.onnx', 'tokens.txt']],
  ])('of %j is none', (files) => {
    expect(findLayout(files)).toBeNull();
  });

  it('prefers 8-bit weights', () => {
    const graphs = ['encoder-model', 'decoder_joint-model'].flatMap((name) => [`${name}.onnx`, `${name}.int8.onnx`]);
    expect(findLayout([...graphs, 'vocab.txt'])).toMatchObject({
      encoder: 'encoder-model.int8.onnx',
      decoders: ['decoder_joint-model.int8.onnx'],
    });
  });
});

describe('a Parakeet folder', () => {
  it('costs the more the larger its graphs are', async () => {
    const { cost } = await load();
    writeFileSync(join(folder, 'encoder-model.int8.onnx.data'), '');
    truncateSync(join(folder, 'encoder-model.int8.onnx.data'), 630e6);
    const larger = (await load()).cost;
    expect(larger.perSecondMs - cost.perSecondMs).toBeCloseTo(40, 1);
    expect(larger.perJobMs).toBeGreaterThan(cost.perJobMs);
  });

  it('without bridge.json has its own name, and languages by the size of its vocabulary', async () => {
    rmSync(join(folder, 'bridge.json'));
    const { asr, languages } = await load();
    expect(asr.name).toBe('mine');
    expect(languages).toEqual(['en']);
  });

  it('says its languages itself', async () => {
    writeFileSync(
      join(folder, 'bridge.json'),
      formatBridge({
        format: 1,
        family: 'parakeet-tdt',
        name: 'mine',
        version: '3',
        languages: ['de', 'en'],
        licence: 'CC-BY-4.0',
        files: { 'vocab.txt': 'a'.repeat(64) },
      }),
    );
    expect(await load()).toMatchObject({ asr: { name: 'mine-3' }, languages: ['de', 'en'], warning: null });
  });

  it.each([
    ['has no graph', () => rmSync(join(folder, 'encoder-model.int8.onnx')), 'model_missing', /not have the files/],
    ['has a damaged graph', () => writeFileSync(join(folder, 'encoder-model.int8.onnx'), 'x'), 'model_missing', /ONNX/],
    ['has no blank', () => writeFileSync(join(folder, 'vocab.txt'), '<unk> 0\na 1\n'), 'bad_settings', /<blk>/],
    ['skips a token', () => writeFileSync(join(folder, 'vocab.txt'), '<unk> 0\n<blk> 2\n'), 'bad_settings', /line 2/],
    ['has a config that is no JSON', () => writeFileSync(join(folder, 'config.json'), '{'), 'bad_settings', /JSON/],
    [
      'has a config with another kind of features',
      () => writeFileSync(join(folder, 'config.json'), '{"features_size": "many"}'),
      'bad_settings',
      /features_size: got "many"/,
    ],
  ])('is refused when it %s', (_, spoil, code, message) => {
    spoil();
    expect(refusalOf()).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});
