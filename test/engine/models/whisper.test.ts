import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readModelFile } from '../../../engine/graph/model-file.ts';
import { attentionGraph, freeWindow } from '../../../engine/graph/whisper.ts';
import { namesInFolder } from '../../../engine/models/folder-names.ts';
import type { ReadingOptions } from '../../../engine/models/model.ts';
import { findRecogniserFiles } from '../../../engine/models/recogniser-folders.ts';
import { readWhisperFolder } from '../../../engine/models/whisper/folder.ts';
import { findLayout } from '../../../engine/models/whisper/layout.ts';
import { loadWhisper } from '../../../engine/models/whisper/load.ts';
import { loopAtEnd } from '../../../engine/models/whisper/text-rules.ts';
import { Refusal } from '../../../engine/refusal.ts';
import { runThrough } from '../../../engine/scheduler.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { arithmeticClip } from '../../e2e/parity/arithmetic-clip.ts';

const CPU = { device: { provider: 'cpu' }, threads: 1, graphs: 'rewritten' } as const;
const TEXTS = ['config.json', 'tokenizer.json'];
let folder = '';

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'trunkline-whisper-')), 'mine');
});

afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

function copy(layout: string): void {
  cpSync(packagePath('fixtures', 'models', 'whisper', layout), folder, { recursive: true });
}

/** Changes a JSON file in the folder. */
function change(name: string, values: object): void {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...values }));
}

async function read(samples: Int16Array, options: ReadingOptions = {}) {
  const { asr } = await loadWhisper(folder, CPU);
  return runThrough(asr.transcribe(samples, [], options));
}

describe('the layout of a Whisper folder', () => {
  it.each([
    [['encoder_cross.onnx', 'decoder_step.onnx'], { kind: 'free', weights: null }],
    [['onnx/encoder_model.onnx', 'onnx/decoder_model_merged.onnx'], { kind: 'window', weights: 'float' }],
    [
      ['', '_quantized', '_fp16'].flatMap((end) => [`encoder_model${end}.onnx`, `decoder_model_merged${end}.onnx`]),
      { kind: 'window', weights: '8 bits', encoder: 'encoder_model_quantized.onnx' },
    ],
    [['encoder_model_q4.onnx', 'decoder_model_merged_q4f16.onnx'], { kind: 'window', weights: '4 bits' }],
  ])('of %j is known', (graphs, layout) => {
    expect(findLayout([...graphs, ...TEXTS])).toMatchObject(layout);
  });

  it('has no 8-bit weights on a GPU where there are others', () => {
    const graphs = ['', '_quantized'].flatMap((end) => [`encoder_model${end}.onnx`, `decoder_model_merged${end}.onnx`]);
    expect(findLayout([...graphs, ...TEXTS], 'cuda')).toMatchObject({ weights: 'float' });
  });

  it('is told from that of Moonshine, which has graphs of the same names', () => {
    const graphs = ['encoder_model.onnx', 'decoder_model_merged.onnx'];
    expect(findRecogniserFiles([...graphs, 'tokenizer.bin'])?.family).toBe('moonshine');
    expect(findRecogniserFiles([...graphs, ...TEXTS])).toMatchObject({ family: 'whisper', missing: [] });
    expect(findRecogniserFiles([...graphs, 'config.json'])).toMatchObject({ missing: [expect.any(String)] });
  });
});

describe('a loop at the end of tokens', () => {
  it.each([
    ['a number said twice', [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6], 0],
    ['a number said twice and begun again', [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4], 10],
    ['a word said three times', [9, 1, 1, 1], 0],
    ['a word said four times', [9, 1, 1, 1, 1], 3],
    ['two words said four times', [1, 2, 1, 2, 1, 2, 1, 2], 6],
    ['nothing', [], 0],
  ])('of %s has so many tokens too many', (_, tokens, loop) => {
    expect(loopAtEnd(tokens)).toBe(loop);
  });
});

describe("Whisper's published graphs", () => {
  it('are freed of their window where programs have written its length into them', () => {
    copy('window');
    const model = readModelFile(join(folder, 'onnx', 'encoder_model.onnx'));
    const { outputs } = freeWindow(model, 1500);
    expect(outputs[0]?.type?.tensorType?.shape?.dim[1]).toEqual({ dimParam: 'positions' });
    expect(() => freeWindow(model, 1499)).toThrow('it adds a table of 1499 positions 0 times, expected once');
  });

  it('show their attention only where each layer has two', () => {
    copy('window-int8');
    const model = readModelFile(join(folder, 'onnx', 'decoder_model_merged_quantized.onnx'));
    expect(attentionGraph(model, 2).part.outputs).toHaveLength(2);
    expect(() => attentionGraph(model, 3)).toThrow('it shows 4 attentions, expected 6');
  });
});

describe('a Whisper folder', () => {
  it('may have its tokens in files of their own', async () => {
    copy('free');
    const whole = await read(arithmeticClip(3, 32_000));
    const { model, added_tokens: added } = JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8'));
    rmSync(join(folder, 'tokenizer.json'));
    writeFileSync(join(folder, 'vocab.json'), JSON.stringify(model.vocab));
    writeFileSync(join(folder, 'merges.txt'), `#version: 0.2\n${model.merges.join('\n')}\n`);
    const names = added.map(({ content, id }: { content: string; id: number }) => [content, id]);
    writeFileSync(join(folder, 'added_tokens.json'), JSON.stringify(Object.fromEntries(names)));
    expect(await read(arithmeticClip(3, 32_000))).toEqual(whole);
  });

  it('may have its graphs beside its other files', async () => {
    copy('window');
    for (const name of ['encoder_model.onnx', 'decoder_model_merged.onnx'])
      renameSync(join(folder, 'onnx', name), join(folder, name));
    expect((await loadWhisper(folder, CPU)).asr.name).toBe('whisper-fixture (weights of float)');
  });

  it('of English alone has no language to find', async () => {
    copy('free');
    change('generation_config.json', { is_multilingual: false });
    const { languages, abilities, asr } = await loadWhisper(folder, CPU);
    expect([languages, abilities.languageGuess]).toEqual([['en'], false]);
    const { language, tokens } = await runThrough(asr.transcribe(arithmeticClip(3, 32_000), []));
    expect(language).toBeUndefined();
    expect(tokens.length).toBeGreaterThan(0);
  });

  it('says its languages itself', async () => {
    copy('free');
    change('bridge.json', { languages: ['de', 'jv'] });
    expect((await loadWhisper(folder, CPU)).languages).toEqual(['de', 'jv']);
    expect(['de', 'jv']).toContain((await read(arithmeticClip(3, 32_000))).language);
    rmSync(join(folder, 'bridge.json'));
    const { asr, languages } = await loadWhisper(folder, CPU);
    expect([asr.name, languages]).toEqual(['mine', ['en', 'de', 'zh', 'jv']]);
  });

  it('takes 30 s, and says so, where its encoder cannot be freed of its window', async () => {
    copy('window');
    change('config.json', { max_source_positions: 1499 });
    const { warning } = await loadWhisper(folder, CPU);
    expect(warning).toMatch(/^each reading takes as long as one of 30 s, .* 1499 positions 0 times, expected once$/);
  });

  it('says nothing where nobody speaks', async () => {
    copy('free');
    const { language: _, ...silence } = await read(new Int16Array(0), { timed: true });
    expect(silence).toEqual({ text: '', tokens: [], logprobs: new Float32Array(0), looped: false, words: [] });
    expect((await read(new Int16Array(1), { language: 'en' })).logprobs?.every(Number.isFinite)).toBe(true);
  });

  it('hears what is longer than its window in stretches, in one language', async () => {
    copy('free');
    const { text, language } = await read(arithmeticClip(5, 40 * 16_000), { timed: true });
    expect(text.length).toBeGreaterThan(20);
    expect(language).toBeDefined();
  });

  it('costs the more the larger its graphs are', async () => {
    copy('free');
    const { cost } = await loadWhisper(folder, CPU);
    writeFileSync(join(folder, 'encoder_cross.onnx.data'), '');
    truncateSync(join(folder, 'encoder_cross.onnx.data'), 100e6);
    const larger = (await loadWhisper(folder, CPU)).cost;
    expect(larger.perSecondMs).toBeGreaterThan(cost.perSecondMs);
    expect(larger.perJobMs).toBeGreaterThan(cost.perJobMs);
  });

  it('is biased to hot words', async () => {
    copy('free');
    const clip = arithmeticClip(6, 64_000);
    const plain = await read(clip, { language: 'en' });
    const biased = await read(clip, { language: 'en', hotWords: ['gabe', 'kasova', 'beka'] });
    expect(biased.logprobs?.length).toBe(biased.tokens.length);
    if (biased.text !== plain.text) expect(biased.text).toMatch(/gabe|kasova|beka/i);
  });

  it.each([
    ['has no graph', () => rmSync(join(folder, 'decoder_step.onnx')), 'model_missing', /lacks decoder_step\.onnx/],
    ['has a damaged graph', () => writeFileSync(join(folder, 'decoder_step.onnx'), 'x'), 'model_missing', /ONNX/],
    ['is of another model', () => change('config.json', { model_type: 'moonshine' }), 'bad_settings', /"moonshine"/],
    ['is of another shape', () => change('config.json', { decoder_layers: 3 }), 'bad_settings', /3, 2, \d+ by config/],
    [
      'has a longer window than its encoder',
      () => change('config.json', { max_source_positions: 65_536 }),
      'bad_settings',
      /config\.json: max_source_positions: got 65536, expected as many as the encoder has/,
    ],
    ['has no bands', () => change('config.json', { num_mel_bins: 'many' }), 'bad_settings', /num_mel_bins: got "many"/],
    [
      'has heads that are none',
      () => change('generation_config.json', { alignment_heads: [[7, 0]] }),
      'bad_settings',
      /a layer below 2/,
    ],
    ['has no tokens', () => change('tokenizer.json', { added_tokens: [] }), 'bad_settings', /no token <\|/],
  ])('is refused when it %s', async (_, spoil, code, message) => {
    copy('free');
    spoil();
    const refused = await loadWhisper(folder, CPU).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect(refused).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

describe('the names in a folder', () => {
  it('are also those in its folder of graphs, and in no other', () => {
    copy('window');
    mkdirSync(join(folder, 'other'));
    writeFileSync(join(folder, 'other', 'file'), '');
    const names = namesInFolder(folder);
    expect(names).toContain('onnx/encoder_model.onnx');
    expect(names).not.toContain('other/file');
    expect(readWhisperFolder(folder, 'cpu').layout.encoder).toBe('onnx/encoder_model.onnx');
  });
});
