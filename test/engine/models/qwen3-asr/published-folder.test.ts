import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readModelFile } from '../../../../engine/graph/model-file.ts';
import { namesInFolder } from '../../../../engine/models/folder-names.ts';
import { EmbeddingRows } from '../../../../engine/models/qwen3-asr/embedding-rows.ts';
import { loadQwen3Asr } from '../../../../engine/models/qwen3-asr/load.ts';
import { PromptWriter } from '../../../../engine/models/qwen3-asr/prompt.ts';
import { publishedConfig, readSplitSizes, roomOf } from '../../../../engine/models/qwen3-asr/published-config.ts';
import { findPublishedFiles, findPublishedLayout } from '../../../../engine/models/qwen3-asr/published-layout.ts';
import { tokenizerJsonOf } from '../../../../engine/models/qwen3-asr/published-tokenizer.ts';
import { QwenTokenizer } from '../../../../engine/models/qwen3-asr/tokenizer.ts';
import { findRecogniserFiles } from '../../../../engine/models/recogniser-folders.ts';
import { openFolder, Refusal } from '../../../../engine/refusal.ts';
import { packagePath } from '../../../../src/foundation/folders/paths.ts';
import { TEST_CACHE_DIR } from '../../settings.ts';

const FIXTURES = packagePath('fixtures', 'models', 'qwen3-asr');
const TOKENIZER = ['tokenizer/vocab.json', 'tokenizer/merges.txt', 'tokenizer/tokenizer_config.json'];
const OPTIONS = { threads: 1, runTokens: 16, cacheDir: TEST_CACHE_DIR, progress: () => undefined };
const BESIDE = ['embed_tokens.bin', 'tokenizer.json', 'config.json'];

let folder = '';

function copy(name: 'split' | 'static'): void {
  cpSync(join(FIXTURES, name), folder, { recursive: true });
}

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'trunkline-qwen-')), 'mine');
});

afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

const load = () => loadQwen3Asr(folder, { ...OPTIONS, device: { provider: 'cpu' }, graphs: 'rewritten' });

async function refusalOf(): Promise<Refusal> {
  const error = await openFolder(folder, load).catch((reason: unknown) => reason);
  if (error instanceof Refusal) return error;
  throw new Error('it was not refused');
}

/** The file names of a model with such weights. */
function graphs(names: readonly string[], ending: string): string[] {
  return names.map((name) => `${name}${ending}`);
}

describe('the published layout of a Qwen3-ASR folder', () => {
  const split = ['encoder', 'decoder_init', 'decoder_step'];

  it.each([
    [[...graphs(split, '.onnx'), 'decoder_weights.data', ...BESIDE], 'split', 'f32', []],
    [[...graphs(split, '.onnx'), ...graphs(split, '.int4.onnx'), ...BESIDE], 'split', 'int4', ['f32']],
    [['encoder.onnx', ...graphs(split.slice(1), '.int8.onnx'), ...BESIDE], 'split', 'int8', []],
    [['conv_frontend.onnx', ...graphs(['encoder', 'decoder'], '.int8.onnx'), ...TOKENIZER], 'static', 'int8', []],
    [
      [
        'conv_frontend.onnx',
        ...['.onnx', '.int8.onnx'].flatMap((end) => graphs(['encoder', 'decoder'], end)),
        ...TOKENIZER,
      ],
      'static',
      'int8',
      ['f32'],
    ],
  ])('of %j is %s with weights of %s', (names, kind, weights, others) => {
    expect(findPublishedLayout(names)).toMatchObject({ kind, weights, others });
    expect(findPublishedFiles(names).missing).toEqual([]);
    expect(findRecogniserFiles(names)).toMatchObject({ family: 'qwen3-asr', missing: [] });
  });

  it.each([
    [['encoder.onnx', 'decoder_init.onnx', 'decoder_step.int4.onnx', ...BESIDE]],
    [['encoder.int8.onnx', 'decoder.int8.onnx', 'joiner.int8.onnx', 'tokens.txt']],
    [['conv_frontend.onnx', 'encoder.onnx', 'decoder.onnx', 'tokenizer.json']],
  ])('of %j is none', (names) => {
    expect(findPublishedLayout(names)).toBeNull();
  });

  it('takes the weights that both decoders share, and those beside a graph', () => {
    const names = [...graphs(split, '.int4.onnx'), 'decoder_weights.int4.data', 'decoder_weights.data', ...BESIDE];
    expect(findRecogniserFiles(names)?.files).toEqual([
      ...graphs(split, '.int4.onnx'),
      'decoder_weights.int4.data',
      ...BESIDE,
    ]);
    const sherpa = ['conv_frontend.onnx', 'encoder.onnx', 'decoder.onnx', 'decoder.onnx.data', ...TOKENIZER];
    expect(new Set(findRecogniserFiles(sherpa)?.files)).toEqual(new Set(sherpa));
  });

  it('says what is missing of it', () => {
    const without = (names: readonly string[], name: string) =>
      findRecogniserFiles(names.filter((each) => each !== name));
    const first = [...graphs(split, '.int4.onnx'), ...BESIDE];
    expect(without(first, 'embed_tokens.bin')).toMatchObject({ family: 'qwen3-asr', missing: ['embed_tokens.bin'] });
    expect(without(first, 'decoder_step.int4.onnx')).toMatchObject({ missing: ['decoder_step.onnx'] });
    const second = ['conv_frontend.onnx', ...graphs(['encoder', 'decoder'], '.int8.onnx'), ...TOKENIZER];
    expect(without(second, 'tokenizer/merges.txt')).toMatchObject({ missing: ['tokenizer/merges.txt'] });
    expect(without(second, 'conv_frontend.onnx')).toMatchObject({ missing: ['conv_frontend.onnx'] });
  });
});

describe('a published folder', () => {
  it('says which weights it uses where it has several', async () => {
    copy('static');
    for (const graph of ['encoder', 'decoder'])
      cpSync(join(folder, `${graph}.onnx`), join(folder, `${graph}.int8.onnx`));
    expect((await load()).warning).toBe('it has weights of int8 and f32, of which int8 are used');
  });

  it('runs on a CPU where a GPU is wanted, and says so', async () => {
    copy('split');
    const device = { provider: 'cuda', deviceId: 0 } as const;
    const { asr, warning } = await loadQwen3Asr(folder, { ...OPTIONS, device, graphs: 'shipped' });
    expect(asr.provider).toBe('cpu');
    expect(warning).toMatch(/runs on the CPU/);
  });

  it.each([
    ['split', 'decoder_weights.data', 'lacks decoder_weights.data, expected by decoder_init.onnx'],
    ['split', 'embed_tokens.bin', 'lacks embed_tokens.bin'],
    ['static', 'tokenizer/vocab.json', 'lacks tokenizer/vocab.json'],
  ] as const)('in the layout %s is refused without %s', async (name, file, reason) => {
    copy(name);
    rmSync(join(folder, file));
    const { code, message } = await refusalOf();
    expect(code).toBe('model_missing');
    expect(message).toContain(reason);
    expect(message).toContain(folder);
  });

  it.each([
    ['split', 'config.json', '{', /config.json: got something that is not JSON/],
    ['split', 'config.json', '{"decoder": {"vocab_size": 318}}', /config.json: decoder.hidden_size: got nothing/],
    ['split', 'config.json', '[]', /config.json: got an array of 0, expected an object/],
    ['split', 'embed_tokens.bin', 'x', /embed_tokens.bin: got 1 bytes, expected 2 or 4 for each of 318 x 48 numbers/],
    ['split', 'decoder_step.onnx', 'x', /decoder_step.onnx is no ONNX file/],
    ['split', 'tokenizer.json', '{}', /tokenizer.json/],
    ['static', 'tokenizer/vocab.json', '[]', /tokenizer: vocab.json: got an array of 0, expected an object/],
    ['static', 'tokenizer/merges.txt', 'a b\nc\n', /tokenizer: merges.txt: line 2: expected two pieces/],
    [
      'static',
      'tokenizer/tokenizer_config.json',
      '{}',
      /tokenizer_config.json: added_tokens_decoder: expected an object/,
    ],
    ['static', 'tokenizer/tokenizer_config.json', '{"added_tokens_decoder": {"x": {}}}', /expected numbers as names/],
  ] as const)('in the layout %s is refused with %s that is %s', async (name, file, content, reason) => {
    copy(name);
    writeFileSync(join(folder, file), content);
    const { message } = await refusalOf();
    expect(message).toMatch(reason);
    expect(message).toContain(folder);
  });

  it('is refused with sizes that are lists however deep', async () => {
    copy('split');
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    writeFileSync(join(folder, 'config.json'), `{"decoder": {"vocab_size": ${deep}}}`);
    expect((await refusalOf()).message).toMatch(/decoder.vocab_size: got an array of 1, expected a whole number/);
  });

  it('is refused with graphs of another layout', async () => {
    copy('split');
    cpSync(join(FIXTURES, 'split', 'decoder_step.onnx'), join(folder, 'decoder_init.onnx'));
    expect((await refusalOf()).message).toMatch(/decoder_init.onnx: got the inputs input_embeds, .*expected input_ids/);
  });

  it('has all its files read, and no others', () => {
    for (const name of ['split', 'static'] as const) {
      const names = namesInFolder(join(FIXTURES, name));
      const inner = new Set(readdirSync(join(FIXTURES, name)).filter((each) => !each.includes('.')));
      expect(new Set(findRecogniserFiles(names)?.files)).toEqual(new Set(names.filter((each) => !inner.has(each))));
    }
  });
});

describe('the older form of a tokenizer', () => {
  const read = (name: string) => readFileSync(join(FIXTURES, 'static', 'tokenizer', name), 'utf8');
  const files = () => ({
    vocabulary: read('vocab.json'),
    merges: read('merges.txt'),
    config: read('tokenizer_config.json'),
  });

  it('gives 150 strings the tokens that Hugging Face gives them', () => {
    const texts = JSON.parse(readFileSync(join(FIXTURES, 'texts.json'), 'utf8')) as {
      readonly tokenized: readonly { readonly text: string; readonly ids: number[] }[];
    };
    const tokenizer = new QwenTokenizer(tokenizerJsonOf(files()), 318);
    expect(texts.tokenized.length).toBe(150);
    for (const { text, ids } of texts.tokenized) expect([text, tokenizer.encode(text)]).toEqual([text, ids]);
  });

  it('has the same added tokens, special ones and others', () => {
    const older = new QwenTokenizer(tokenizerJsonOf(files()), 318);
    const newer = new QwenTokenizer(readFileSync(join(FIXTURES, 'float', 'tokenizer.json'), 'utf8'), 318);
    for (let token = 0; token < 318; token++) {
      expect(older.isControl(token)).toBe(newer.isControl(token));
      expect(older.textOf([token])).toBe(newer.textOf([token]));
    }
    expect(older.idOf('<asr_text>')).toBe(newer.idOf('<asr_text>'));
  });

  it('may have lines that end as Windows ends them, and no comment', () => {
    const merges = files().merges.split('\n').slice(1).join('\r\n');
    expect(JSON.parse(tokenizerJsonOf({ ...files(), merges }))).toEqual(JSON.parse(tokenizerJsonOf(files())));
  });
});

describe('the sizes of a split decoder', () => {
  it('are refused however deep a list stands in the place of one', () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    expect(() => readSplitSizes(`{"encoder":{"num_mel_bins":128},"decoder":{"vocab_size":${deep}}}`)).toThrow(
      /decoder.vocab_size: got an array of 1, expected a whole number/,
    );
  });
});

describe('a cache of sherpa-onnx', () => {
  const decoder = readModelFile(join(FIXTURES, 'static', 'decoder.onnx'));
  const tokenizer = new QwenTokenizer(readFileSync(join(FIXTURES, 'float', 'tokenizer.json'), 'utf8'), 318);
  const sizes = { vocabularySize: 318, hiddenSize: 48, layers: 2, keyValueHeads: 2, headSize: 16, melBins: 128 };

  it('has an end where the graph or its author says so', () => {
    expect(roomOf(decoder)).toBeNull();
    expect(roomOf({ ...decoder, metadata: new Map([['max_total_len', '512']]) })).toBe(512);
  });

  it.each(['100', '5000', '1e9', '99999999999999'])('is refused where it is of %s tokens', (length) => {
    expect(() => roomOf({ ...decoder, metadata: new Map([['max_total_len', length]]) })).toThrow(
      /max_total_len: got \d+, expected a whole number from 184 to 4096/,
    );
  });

  it('takes shorter stretches where it ends, and what is known of them is cut off', () => {
    expect(publishedConfig(sizes, 'int8', tokenizer, null)).toMatchObject({ maxNewTokens: 512, batchMax: 1 });
    const config = publishedConfig(sizes, 'int8', tokenizer, 512);
    expect(config.maxNewTokens).toBe(180);
    const written = (knownTokensMax?: number) =>
      new PromptWriter(tokenizer, config, knownTokensMax).write({
        context: 'é'.repeat(400),
        hotWords: [],
        audioTokens: 0,
        answer: [],
      }).length;
    expect(written() - written(128)).toBeGreaterThan(300);
    expect(written(129)).toBe(written(128));
  });
});

describe('a table of embeddings', () => {
  it('has numbers of 16 bits', () => {
    const path = `${folder}.bin`;
    writeFileSync(path, new Uint16Array([0x3c00, 0xc000, 0x0001, 0x7bff, 0x8000, 0x7c00, 0xfc00, 0x7e00]));
    const rows = new EmbeddingRows(path, 2, 4);
    expect([...rows.rowOf(0)]).toEqual([1, -2, 2 ** -24, 65_504]);
    expect([...rows.rowOf(1)]).toEqual([-0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]);
  });

  it('or of 32 bits, and no row behind the last', () => {
    const path = `${folder}.bin`;
    writeFileSync(path, new Float32Array([1.5, -0.1, 3, 4]));
    const rows = new EmbeddingRows(path, 2, 2);
    expect([...rows.rowOf(1)]).toEqual([3, 4]);
    expect(() => rows.rowOf(2)).toThrow(/token 2 cannot be read/);
  });
});
