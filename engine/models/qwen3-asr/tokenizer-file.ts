/**
 * `tokenizer.json` of Hugging Face, of a byte-level BPE as Qwen and Whisper have it. A file may say much else, whose
 * time and results have no bounds: regular expressions, replacements, what stands for unknown text. Nothing of that is
 * run, and no plain text has the number of an added token.
 * https://github.com/huggingface/tokenizers
 */
import { ModelFileError } from '../folder-files.ts';
import { showValue } from '../show-value.ts';

/** A token that was added to the vocabulary. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Whether it writes nothing. */
  readonly special: boolean;
}

/** What was read of a file. */
export interface TokenizerFile {
  /** As `@huggingface/tokenizers` takes it, without the added tokens, which it would find in what strangers write. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The pieces of plain text and their numbers. */
  readonly vocabulary: Readonly<Record<string, number>>;
  readonly added: readonly AddedToken[];
}

/** Longest piece, in UTF-16 units: the longest of Qwen and Whisper have 128 spaces. */
const PIECE_MAX_CHARS = 1024;

/** How Qwen splits a text before it looks for tokens. */
const QWEN_SPLIT =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+" +
  '|\\s+(?!\\S)|\\s+';

const BYTES = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false } as const;

/** What splits a text at Qwen, as the file has it. */
export const QWEN_SPLITTER = {
  type: 'Sequence',
  pretokenizers: [{ type: 'Split', pattern: { Regex: QWEN_SPLIT }, behavior: 'Isolated', invert: false }, BYTES],
} as const;
/** The same of GPT-2 and Whisper; the library has its expression. */
export const GPT2_SPLITTER = { ...BYTES, use_regex: true } as const;

/** Bytes as byte-level BPE writes them: those that can be seen as they are, others from U+0100 on, in order. */
export const BYTE_BY_CHARACTER: ReadonlyMap<string, number> = byteCharacters();

type Values = Readonly<Record<string, unknown>>;

/**
 * Reads the text of a file.
 * @param vocabularySize no token has this number or a higher one
 * @throws ModelFileError
 */
export function readTokenizerFile(text: string, vocabularySize: number): TokenizerFile {
  const file = objectIn(parse(text), 'the file');
  const model = objectIn(file['model'], 'model');
  if (model['type'] !== 'BPE')
    throw new ModelFileError(`model.type: got ${showValue(model['type'])}, expected "BPE", as Qwen has it`);
  const all = readPieces(model['vocab'], vocabularySize);
  const added = readAddedTokens(file['added_tokens'], vocabularySize);
  const vocabulary = plainPieces(all, added);
  const json = {
    version: '1.0',
    added_tokens: [],
    normalizer: readNormalizer(file['normalizer']),
    pre_tokenizer: readSplitter(file['pre_tokenizer']),
    post_processor: null,
    decoder: { ...BYTES, use_regex: true },
    model: { type: 'BPE', vocab: vocabulary, merges: readMerges(model['merges'], vocabulary) },
  };
  return { json, vocabulary, added };
}

function readPieces(value: unknown, vocabularySize: number): Readonly<Record<string, number>> {
  const pieces = objectIn(value, 'model.vocab');
  for (const [piece, id] of Object.entries(pieces)) {
    requireToken(id, vocabularySize);
    if (piece.length > PIECE_MAX_CHARS)
      throw new ModelFileError(
        `model.vocab: got a piece of ${piece.length} characters, expected at most ${PIECE_MAX_CHARS}`,
      );
  }
  return pieces as Record<string, number>;
}

function readAddedTokens(value: unknown, vocabularySize: number): readonly AddedToken[] {
  if (!Array.isArray(value)) throw new ModelFileError('added_tokens: expected an array');
  const added = value.map(readAddedToken);
  for (const { id, content } of added) {
    requireToken(id, vocabularySize);
    if (content.length > PIECE_MAX_CHARS)
      throw new ModelFileError(`added_tokens: expected at most ${PIECE_MAX_CHARS} characters in each`);
  }
  const numbers = new Map(added.map(({ id, content }) => [id, content]));
  const twice = added.find(({ id, content }) => numbers.get(id) !== content);
  if (twice !== undefined)
    throw new ModelFileError(`added_tokens: got the number ${twice.id} twice, expected another for each token`);
  return added;
}

function readAddedToken(value: unknown): AddedToken {
  const { id, content, special } = objectIn(value, 'added_tokens');
  if (typeof id !== 'number' || typeof content !== 'string' || content === '')
    throw new ModelFileError('added_tokens: expected objects with an id and a content');
  return { id, content, special: special === true };
}

function requireToken(id: unknown, vocabularySize: number): void {
  if (typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < vocabularySize) return;
  throw new ModelFileError(`expected every token's number to be below ${vocabularySize}, as the model has it`);
}

/** The pieces without the added tokens; with all bytes among them, every text is made of them. */
function plainPieces(
  all: Readonly<Record<string, number>>,
  added: readonly AddedToken[],
): Readonly<Record<string, number>> {
  const names = new Set(added.map(({ content }) => content));
  const numbers = new Set(added.map(({ id }) => id));
  const plain = Object.entries(all).filter(([piece]) => !names.has(piece));
  const wrong = plain.find(([, id]) => numbers.has(id));
  if (wrong !== undefined)
    throw new ModelFileError(`model.vocab: got ${wrong[1]} for text, expected it for an added token alone`);
  const pieces = Object.fromEntries(plain);
  const missing = [...BYTE_BY_CHARACTER].find(([character]) => !Object.hasOwn(pieces, character));
  if (missing === undefined) return pieces;
  throw new ModelFileError(`model.vocab: got no token for the byte ${missing[1]}, expected one for each byte`);
}

/** Two pieces that become one each, as `a b` or as a pair. What was made of two has to be a piece, too. */
function readMerges(value: unknown, vocabulary: Readonly<Record<string, number>>): readonly (readonly string[])[] {
  if (!Array.isArray(value)) throw new ModelFileError('model.merges: expected an array');
  return value.map((merge: unknown, index) => {
    const pair: unknown = typeof merge === 'string' ? merge.split(' ') : merge;
    const isPair = Array.isArray(pair) && pair.length === 2 && pair.every((piece) => typeof piece === 'string');
    if (isPair && [...pair, pair.join('')].every((piece: string) => Object.hasOwn(vocabulary, piece)))
      return pair as string[];
    throw new ModelFileError(`model.merges: ${index}: expected two pieces that make a third one of model.vocab`);
  });
}

function readNormalizer(value: unknown): { readonly type: 'NFC' } | null {
  if (value === null || value === undefined) return null;
  const { type } = objectIn(value, 'normalizer');
  if (type === 'NFC') return { type };
  throw new ModelFileError(`normalizer: got ${showValue(type)}, expected null or "NFC"`);
}

function readSplitter(value: unknown): typeof QWEN_SPLITTER | typeof GPT2_SPLITTER {
  const splitter = objectIn(value, 'pre_tokenizer');
  const { type, pretokenizers } = splitter;
  if (type === 'ByteLevel' && isPlain(splitter) && splitter['use_regex'] !== false) return GPT2_SPLITTER;
  const [first, second, ...others]: unknown[] =
    type === 'Sequence' && Array.isArray(pretokenizers) ? pretokenizers : [];
  if (first !== undefined && second !== undefined && others.length === 0) {
    const [split, bytes] = [objectIn(first, 'pre_tokenizer'), objectIn(second, 'pre_tokenizer')];
    if (isQwenSplit(split) && bytes['type'] === 'ByteLevel' && isPlain(bytes) && bytes['use_regex'] === false)
      return QWEN_SPLITTER;
  }
  throw new ModelFileError(`pre_tokenizer: got ${showValue(type)}, expected that of Qwen or of Whisper`);
}

function isPlain(bytes: Values): boolean {
  return bytes['add_prefix_space'] !== true;
}

function isQwenSplit({ type, pattern, behavior, invert }: Values): boolean {
  if (type !== 'Split' || behavior !== 'Isolated' || invert === true) return false;
  return objectIn(pattern, 'pre_tokenizer')['Regex'] === QWEN_SPLIT;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ModelFileError('got something that is not JSON, expected an object');
  }
}

function objectIn(value: unknown, name: string): Values {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ModelFileError(`${name}: expected an object`);
}

function byteCharacters(): Map<string, number> {
  const bytes = new Map<string, number>();
  let others = 0x100;
  for (let byte = 0; byte < 0x100; byte++) {
    const isSeen = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    bytes.set(String.fromCharCode(isSeen ? byte : others++), byte);
  }
  return bytes;
}
