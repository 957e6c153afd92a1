import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRecogniser } from '../../../../engine/models/find-recogniser.ts';
import { MODEL_TABLE } from '../../../../engine/models/model-table.ts';
import { loadQwen3Asr, typeWarning } from '../../../../engine/models/qwen3-asr/load.ts';
import { findRecogniserFiles } from '../../../../engine/models/recogniser-folders.ts';
import { openFolder, Refusal } from '../../../../engine/refusal.ts';
import { speechLikeNoise } from '../../../../engine/warm-up.ts';
import { packagePath } from '../../../../src/foundation/folders/paths.ts';
import { TEST_CACHE_DIR } from '../../settings.ts';

let folder = '';

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'trunkline-qwen-')), 'mine');
  cpSync(packagePath('fixtures', 'models', 'qwen3-asr', 'int8'), folder, { recursive: true });
});

afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

const load = () =>
  loadQwen3Asr(folder, {
    device: { provider: 'cpu' },
    threads: 1,
    runTokens: 16,
    graphs: 'rewritten',
    cacheDir: TEST_CACHE_DIR,
    progress: () => undefined,
  });

async function refusalOf(step: () => Promise<unknown> = load): Promise<Refusal> {
  const error = await openFolder(folder, step).catch((reason: unknown) => reason);
  if (error instanceof Refusal) return error;
  throw new Error('it was not refused');
}

function change(file: string, edit: (json: Record<string, unknown>) => Record<string, unknown>): void {
  const path = join(folder, file);
  writeFileSync(path, JSON.stringify(edit(JSON.parse(readFileSync(path, 'utf8')))));
}

describe('a Qwen3-ASR folder', () => {
  it('is known by its files, and says which of them are missing', () => {
    rmSync(join(folder, 'bridge.json'));
    const found = findRecogniser(MODEL_TABLE, folder, { modelsDir: '', setting: 'ASR_MODEL' });
    expect(found.row.name).toBe('qwen3-asr');
    const names = ['encoder.onnx', 'encoder.onnx.data', 'config.json', 'tokenizer.json', 'aligner'];
    expect(findRecogniserFiles(names)).toEqual({
      family: 'qwen3-asr',
      files: ['encoder.onnx', 'tokenizer.json', 'config.json', 'encoder.onnx.data'],
      missing: ['decoder_loop.onnx'],
    });
  });

  it('without bridge.json has its own name, and the languages of its config', async () => {
    rmSync(join(folder, 'bridge.json'));
    change('config.json', (json) => ({ ...json, languages: ['German', 'English'] }));
    const { asr, languages } = await load();
    expect(asr.name).toBe('mine');
    expect(languages).toEqual(['en', 'de']);
  });

  it('costs the more the larger its graphs are', async () => {
    const { cost } = await load();
    writeFileSync(join(folder, 'decoder_loop.onnx.data'), '');
    truncateSync(join(folder, 'decoder_loop.onnx.data'), 600e6);
    const larger = (await load()).cost;
    expect(larger.perSecondMs).toBeGreaterThan(cost.perSecondMs + 50);
    expect(larger.perJobMs).toBeGreaterThan(cost.perJobMs);
  });

  it.each([
    ['model', 'whisper', /model: got "whisper", expected "qwen3-asr"/],
    ['format', 2, /format: got 2, expected 1/],
    ['dtype', 'bf16', /dtype: got "bf16", expected one of f32, f16, int8, uint8, int4/],
    ['vocabularySize', 0, /vocabularySize: got 0, expected a whole number from 4/],
    ['layers', 2.5, /layers: got 2.5, expected a whole number/],
    ['headSize', '16', /headSize: got "16", expected a whole number/],
    ['chunkTokens', 12, /chunkTokens: got 12, expected 13 of 100 frames/],
    ['windowTokens', 100, /windowTokens: got 100, expected a multiple of chunkTokens \(13\)/],
    ['audioPadToken', 318, /audioPadToken: got 318, expected a whole number from 0 to 317/],
    ['endTokens', [], /endTokens: got an array of 0, expected an array of 1 to 16/],
    ['endTokens', [999], /endTokens: got 999/],
    ['maxNewTokens', 4096, /maxNewTokens: got 4096, expected a whole number from 1 to 512/],
    ['languages', ['Klingon'], /languages: got "Klingon", expected names such as "English"/],
    ['batchMax', 0, /batchMax: got 0/],
  ])('is refused where config.json has a wrong %s: %j', async (property, value, reason) => {
    change('config.json', (json) => ({ ...json, [property]: value }));
    const { code, message } = await refusalOf();
    expect(code).toBe('bad_settings');
    expect(message).toMatch(reason);
    expect(message).toContain(join(folder, 'config.json'));
  });

  it.each([
    ['is no JSON', '{', /not JSON/],
    ['is no object', '[]', /expected an object/],
    ['is of another kind', '{"model":{"type":"Unigram"}}', /model.type: .*expected "BPE"/],
    ['has no added tokens', '{"model":{"type":"BPE","vocab":{},"merges":[]}}', /added_tokens/],
    [
      'has no bytes',
      '{"model":{"type":"BPE","vocab":{},"merges":[]},"added_tokens":[]}',
      /the byte 0, expected one for/,
    ],
    [
      'has tokens that the model has not',
      '{"model":{"type":"BPE","vocab":{"a":318},"merges":[]},"added_tokens":[]}',
      /318/,
    ],
  ])('is refused where tokenizer.json %s', async (_, text, reason) => {
    writeFileSync(join(folder, 'tokenizer.json'), text);
    const { code, message } = await refusalOf();
    expect(code).toBe('bad_settings');
    expect(message).toMatch(reason);
    expect(message).toContain(join(folder, 'tokenizer.json'));
  });

  it('is refused where the tokenizer has another audio pad than the model', async () => {
    change('config.json', (json) => ({ ...json, audioPadToken: 3 }));
    expect((await refusalOf()).message).toMatch(/<\|audio_pad\|>: got 315, expected 3/);
    change('config.json', (json) => ({ ...json, audioPadToken: 315, endTokens: [3] }));
    expect((await refusalOf()).message).toMatch(/<\|im_end\|>: got 312, expected an end token/);
  });

  it('is refused where the tokenizer has no turns', async () => {
    change('tokenizer.json', (json) => ({ ...json, added_tokens: [] }));
    expect((await refusalOf()).message).toMatch(/added_tokens: got none called <\|im_start\|>, expected it/);
  });

  it('is refused where a file cannot be read, or is too large', async () => {
    truncateSync(join(folder, 'config.json'), 100_000);
    expect((await refusalOf()).message).toMatch(/config.json: got 100000 bytes, expected at most 65536/);
    rmSync(join(folder, 'config.json'));
    expect(await refusalOf()).toMatchObject({ code: 'model_missing' });
    mkdirSync(join(folder, 'config.json'));
    expect(await refusalOf()).toMatchObject({ code: 'model_missing' });
  });

  it('is refused where a graph is no graph, or another one', async () => {
    cpSync(join(folder, 'encoder.onnx'), join(folder, 'decoder_loop.onnx'));
    expect((await refusalOf()).message).toMatch(
      /decoder_loop.onnx: got the inputs mel, tokens, windows, expected prompt_ids/,
    );
    writeFileSync(join(folder, 'encoder.onnx'), 'x');
    expect((await refusalOf()).message).toContain('encoder.onnx');
  });

  it.each([
    ['melBins', 80],
    ['hiddenSize', 64],
    ['layers', 3],
    ['keyValueHeads', 4],
    ['headSize', 8],
  ])('is refused by its first run where %s is of another model', async (property, value) => {
    change('config.json', (json) => ({ ...json, [property]: value }));
    const { asr } = await load();
    expect((await refusalOf(() => asr.warmUp(speechLikeNoise(16_000)))).message).toContain(folder);
  });
});

describe('weights of a type on a device', () => {
  it('are told of where a GPU has no operators for them', () => {
    for (const dtype of ['int8', 'uint8'] as const)
      expect(typeWarning({ dtype }, 'cuda', 'int8')).toMatch(/a GPU wants weights of f16/);
    expect(typeWarning({ dtype: 'int8' }, 'cpu', 'int8')).toBeNull();
    expect(typeWarning({ dtype: 'int8' }, 'cpu', 'uint8')).toMatch(/export with --unsigned/);
    expect(typeWarning({ dtype: 'uint8' }, 'cpu', 'uint8')).toBeNull();
    for (const dtype of ['f16', 'f32', 'int4'] as const) expect(typeWarning({ dtype }, 'cuda', 'int8')).toBeNull();
  });
});
