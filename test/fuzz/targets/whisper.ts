import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ModelFileError } from '../../../engine/models/folder-files.ts';
import { parseWhisperConfig } from '../../../engine/models/whisper/config.ts';
import { tokenizerOf, WhisperVocabulary } from '../../../engine/models/whisper/vocabulary.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import type { FuzzTarget } from '../fuzz.ts';

const folder = packagePath('fixtures', 'models', 'whisper', 'free');
const read = (name: string) => readFileSync(`${folder}/${name}`);
const config = read('config.json').toString('utf8');
const whole = parseWhisperConfig(config, read('generation_config.json').toString('utf8'));

/** A folder's small files are refused by an error that says why. */
export const target: FuzzTarget = {
  name: 'whisper',
  seeds: [read('config.json'), read('generation_config.json'), read('tokenizer.json')],
  words: [
    '"alignment_heads":',
    '[[1,1]]',
    '<|en|>',
    '<|notimestamps|>',
    '"is_multilingual":false',
    'null',
    '-1',
    '1e308',
  ],
  run(input) {
    const text = Buffer.from(input).toString('utf8');
    readOrRefuse(() => parseWhisperConfig(text, null));
    const told = readOrRefuse(() => parseWhisperConfig(config, text));
    for (const token of told?.suppressed ?? []) assert.ok(token >= 0 && token < whole.vocabularySize);
    const vocabulary = readOrRefuse(() => new WhisperVocabulary(text, whole));
    vocabulary?.textOf([0, 1, whole.vocabularySize]);
    readOrRefuse(() => new WhisperVocabulary(tokenizerOf(text, text, text), whole));
  },
};

function readOrRefuse<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    assert.ok(error instanceof ModelFileError, String(error));
    assert.ok(error.message.length < 300, error.message);
    return null;
  }
}
