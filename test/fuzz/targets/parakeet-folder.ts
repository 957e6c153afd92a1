import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readParakeetFolder } from '../../../engine/models/parakeet/folder.ts';
import { ParakeetVocabulary } from '../../../engine/models/parakeet/vocabulary.ts';
import { Refusal } from '../../../engine/refusal.ts';
import { smallGraph } from '../../engine/graph/small-graph.ts';
import type { FuzzTarget } from '../fuzz.ts';

const GRAPH = smallGraph();
/** The files that are whole while another one is not. */
const WHOLE = {
  'encoder-model.onnx': GRAPH,
  'decoder_joint-model.onnx': GRAPH,
  'config.json': '{}',
  'vocab.txt': '\u2581 0\n<blk> 1\n',
} as const;

/** A folder's two small files are refused by their names, or give numbers and tokens within their bounds. */
export const target: FuzzTarget = {
  name: 'parakeet-folder',
  seeds: [
    Buffer.from('{"model_type": "nemo-conformer-tdt", "features_size": 128, "subsampling_factor": 8}'),
    Buffer.from('<unk> 0\n\u2581the 1\n\u2581 2\ns 3\n<blk> 4\n'),
  ],
  words: ['"features_size":', '<blk>', '\n', ' 5\n', '1e3', '-0', 'null', '[128]', '"128"', '\u2581'],
  run(input) {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-fuzz-'));
    try {
      for (const file of ['config.json', 'vocab.txt'] as const) check(folder, file, input);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

function check(folder: string, file: keyof typeof WHOLE, input: Uint8Array): void {
  const files = Object.entries({ ...WHOLE, [file]: input });
  for (const [name, content] of files) writeFileSync(join(folder, name), content);
  try {
    const { bands, subsampling, pieces } = readParakeetFolder(folder);
    for (const number of [bands, subsampling]) assert.ok(Number.isInteger(number) && number > 0 && number <= 1024);
    const vocabulary = new ParakeetVocabulary(pieces);
    const text = Buffer.from(input).toString('utf8').slice(0, 200);
    for (const token of vocabulary.encode(text)) assert.ok(token <= vocabulary.blank);
    vocabulary.textOf(pieces.map((_, token) => token));
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    assert.ok(error.message.includes(folder) && error.message.length < 500, error.message);
  }
}
