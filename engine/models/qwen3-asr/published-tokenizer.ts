/**
 * The tokenizer of a sherpa-onnx folder, which is in the older form of Hugging Face: `vocab.json`, `merges.txt` and
 * `tokenizer_config.json`. It is written as the `tokenizer.json` that transformers makes of it
 * (models/qwen2/tokenization_qwen2.py).
 */
import { ModelFileError } from '../folder-files.ts';
import { propertyOf } from './published-config.ts';

/** The texts of the three files. */
export interface TokenizerFiles {
  readonly vocabulary: string;
  readonly merges: string;
  readonly config: string;
}

/** How Qwen splits a text before it looks for tokens. */
const SPLIT =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+" +
  '|\\s+(?!\\S)|\\s+';

const BYTES = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false } as const;

/** The text of the `tokenizer.json`. @throws ModelFileError that names the file */
export function tokenizerJsonOf({ vocabulary, merges, config }: TokenizerFiles): string {
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: readAdded(config),
    normalizer: { type: 'NFC' },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [{ type: 'Split', pattern: { Regex: SPLIT }, behavior: 'Isolated', invert: false }, BYTES],
    },
    post_processor: BYTES,
    decoder: { ...BYTES, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      byte_fallback: false,
      vocab: readVocabulary(vocabulary),
      merges: readMerges(merges),
    },
  });
}

/** Nothing but numbers is taken: what is nested deep cannot be written again. */
function readVocabulary(text: string): Readonly<Record<string, unknown>> {
  const vocabulary = readObject(text, 'vocab.json');
  if (Object.values(vocabulary).every(Number.isInteger)) return vocabulary;
  throw new ModelFileError('vocab.json: expected a whole number for each token');
}

/** Each line has two pieces that become one, those that are merged first in front; the first line may be a comment. */
function readMerges(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const merges = lines[0]?.startsWith('#version') ? lines.slice(1) : lines;
  return merges.flatMap((line, index) => {
    if (line === '') return [];
    if (/^[^ ]+ [^ ]+$/.test(line)) return [line];
    throw new ModelFileError(`merges.txt: line ${index + 1 + lines.length - merges.length}: expected two pieces`);
  });
}

/** The added tokens by their numbers. */
function readAdded(text: string): unknown[] {
  const name = 'tokenizer_config.json';
  const added = readObject(text, name)['added_tokens_decoder'];
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

function readObject(text: string, name: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ModelFileError(`${name}: got something that is not JSON, expected an object`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ModelFileError(`${name}: expected an object`);
}
