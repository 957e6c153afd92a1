import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ModelFileError } from '../../../engine/models/folder-files.ts';
import { readSplitSizes } from '../../../engine/models/qwen3-asr/published-config.ts';
import { findPublishedFiles, findPublishedLayout } from '../../../engine/models/qwen3-asr/published-layout.ts';
import { type TokenizerFiles, tokenizerJsonOf } from '../../../engine/models/qwen3-asr/published-tokenizer.ts';
import { QwenTokenizer } from '../../../engine/models/qwen3-asr/tokenizer.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import type { FuzzTarget } from '../fuzz.ts';

const folder = packagePath('fixtures', 'models', 'qwen3-asr');
const read = (name: string) => readFileSync(`${folder}/${name}`);
const VOCABULARY = read('static/tokenizer/vocab.json');
const MERGES = read('static/tokenizer/merges.txt');
const ADDED = read('static/tokenizer/tokenizer_config.json');
const CONFIG = read('split/config.json');
const WHOLE: TokenizerFiles = {
  vocabulary: VOCABULARY.toString('utf8'),
  merges: MERGES.toString('utf8'),
  config: ADDED.toString('utf8'),
};
const TOKENS = 318;

/** The small files of published folders are refused by an error that says why, or give sizes and tokens in bounds. */
export const target: FuzzTarget = {
  name: 'qwen3-asr-published',
  seeds: [VOCABULARY, MERGES, ADDED, CONFIG, Buffer.from('encoder.onnx\ndecoder_init.int4.onnx\ndecoder_step.onnx\n')],
  words: ['"decoder":', '"added_tokens_decoder":', '"content":', '#version', '\u0120 a\n', '{}', 'null', '-1', '1e9'],
  run(input) {
    const text = Buffer.from(input).toString('utf8');
    const sizes = readOrRefuse(() => readSplitSizes(text));
    if (sizes !== null) for (const size of Object.values(sizes)) assert.ok(size !== 0);
    for (const file of ['vocabulary', 'merges', 'config'] as const) {
      const tokenizer = readOrRefuse(() => new QwenTokenizer(tokenizerJsonOf({ ...WHOLE, [file]: text }), TOKENS));
      if (tokenizer !== null) for (const token of tokenizer.encode('hello call')) assert.ok(token < TOKENS);
    }
    const names = text.split('\n');
    const { files, missing } = findPublishedFiles(names);
    if (findPublishedLayout(names) !== null) assert.deepEqual(missing, []);
    for (const file of files) assert.ok(names.includes(file));
  },
};

function readOrRefuse<T>(step: () => T): T | null {
  try {
    return step();
  } catch (error) {
    assert.ok(error instanceof ModelFileError, String(error));
    assert.ok(error.message.length < 300, error.message);
    return null;
  }
}
