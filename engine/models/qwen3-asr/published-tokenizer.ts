/**
 * The tokenizer of a sherpa-onnx folder, which is in the older form of Hugging Face: `vocab.json`, `merges.txt` and
 * `tokenizer_config.json`. It is written as the `tokenizer.json` that transformers makes of it
 * (models/qwen2/tokenization_qwen2.py).
 */
import { ModelFileError } from '../folder-files.ts';
import { readMerges, readNamedObject, readVocabulary } from '../tokenizer-files.ts';
import { propertyOf } from './published-config.ts';
import { QWEN_SPLITTER } from './tokenizer-file.ts';

/** The texts of the three files. */
export interface TokenizerFiles {
  readonly vocabulary: string;
  readonly merges: string;
  readonly config: string;
}

/** The text of the `tokenizer.json`. @throws ModelFileError that names the file */
export function tokenizerJsonOf({ vocabulary, merges, config }: TokenizerFiles): string {
  return JSON.stringify({
    added_tokens: readAdded(config),
    normalizer: { type: 'NFC' },
    pre_tokenizer: QWEN_SPLITTER,
    model: { type: 'BPE', vocab: readVocabulary(vocabulary, 'vocab.json'), merges: readMerges(merges) },
  });
}

/** The added tokens by their numbers. */
function readAdded(text: string): unknown[] {
  const name = 'tokenizer_config.json';
  const added = readNamedObject(text, name)['added_tokens_decoder'];
  if (typeof added !== 'object' || added === null || Array.isArray(added))
    throw new ModelFileError(`${name}: added_tokens_decoder: expected an object`);
  return Object.entries(added).map(([id, token]) => {
    if (!/^\d{1,9}$/.test(id)) throw new ModelFileError(`${name}: added_tokens_decoder: expected numbers as names`);
    const content = propertyOf(token, 'content');
    if (typeof content !== 'string')
      throw new ModelFileError(`${name}: added_tokens_decoder: ${id}: expected an object with a content`);
    return { id: Number(id), content, special: propertyOf(token, 'special') === true };
  });
}
