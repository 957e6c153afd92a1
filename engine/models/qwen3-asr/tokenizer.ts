/**
 * The byte-level BPE of Qwen's `tokenizer.json`. Plain text never becomes a control token here, whatever it looks like:
 * those are asked for by name.
 */
import { Tokenizer } from '@huggingface/tokenizers';
import { LRUCache } from 'lru-cache';
import { ModelFileError } from '../folder-files.ts';
import { type AddedToken, BYTE_BY_CHARACTER, readTokenizerFile } from './tokenizer-file.ts';

/** Longest file, in bytes: that of Qwen3 has 11 million. */
export const TOKENIZER_MAX_BYTES = 64 * 2 ** 20;

/** UTF-16 units of all texts whose tokens are kept: what stands before the speech is the same for a whole call. */
const KEPT_CHARS = 100_000;

/** What stands in a prompt: plain text, or the name of an added token. */
export type TextPart = string | { readonly token: string };

/** Text to tokens and back. */
export class QwenTokenizer {
  /** No token of plain text has this number or a higher one. */
  readonly plainEnd: number;
  /** Without the added tokens, which it would find in what strangers write. */
  readonly #encoder: Tokenizer;
  /** What each token writes. */
  readonly #pieces: readonly (Uint8Array | undefined)[];
  readonly #added: ReadonlyMap<string, number>;
  readonly #controls: ReadonlySet<number>;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #kept = new LRUCache<string, readonly number[]>({
    maxSize: KEPT_CHARS,
    sizeCalculation: (tokens, text) => text.length + tokens.length + 1,
  });

  /**
   * @param text of the file
   * @param vocabularySize no token has this number or a higher one
   * @throws ModelFileError
   */
  constructor(text: string, vocabularySize: number) {
    const { json, vocabulary, added } = readTokenizerFile(text, vocabularySize);
    this.#encoder = new Tokenizer(json, {});
    this.#added = new Map(added.map(({ content, id }) => [content, id]));
    this.#controls = new Set(added.filter(({ special }) => special).map(({ id }) => id));
    this.#pieces = piecesOf(vocabulary, added);
    this.plainEnd = Object.values(vocabulary).reduce((highest, id) => Math.max(highest, id), -1) + 1;
  }

  /** The tokens of plain text. */
  encode(text: string): readonly number[] {
    if (text === '') return [];
    const known = this.#kept.get(text);
    if (known !== undefined) return known;
    const { ids } = this.#encoder.encode(text, { add_special_tokens: false });
    this.#kept.set(text, ids);
    return ids;
  }

  /** The tokens of parts, of which plain ones that follow one another are one text. @throws ModelFileError */
  encodeParts(parts: readonly TextPart[]): number[] {
    const tokens: number[] = [];
    let plain = '';
    for (const part of parts) {
      if (typeof part === 'string') {
        plain += part;
        continue;
      }
      tokens.push(...this.encode(plain), this.idOf(part.token));
      plain = '';
    }
    tokens.push(...this.encode(plain));
    return tokens;
  }

  /** The number of an added token. @throws ModelFileError when there is none of that name */
  idOf(name: string): number {
    const id = this.#added.get(name);
    if (id === undefined) throw new ModelFileError(`added_tokens: got none called ${name}, expected it`);
    return id;
  }

  /** Whether a token writes nothing and means something. */
  isControl(token: number): boolean {
    return this.#controls.has(token);
  }

  /** What one token writes, in UTF-8; it may begin or end inside of a character. */
  pieceOf(token: number): Uint8Array {
    return this.isControl(token) ? NOTHING : (this.#pieces[token] ?? NOTHING);
  }

  /** What tokens write, with U+FFFD for bytes that are no whole character. */
  textOf(tokens: readonly number[]): string {
    return this.#decoder.decode(Buffer.concat(tokens.map((token) => this.pieceOf(token))));
  }
}

const NOTHING = new Uint8Array(0);

function piecesOf(
  vocabulary: Readonly<Record<string, number>>,
  added: readonly AddedToken[],
): (Uint8Array | undefined)[] {
  const pieces: (Uint8Array | undefined)[] = [];
  for (const [written, id] of Object.entries(vocabulary)) pieces[id] = bytesOf(written);
  for (const { id, content } of added) pieces[id] = Buffer.from(content);
  return pieces;
}

/** What is no byte is written as it is, as the decoder of Hugging Face does. */
function bytesOf(written: string): Uint8Array {
  const bytes = Array.from(written, (character) => BYTE_BY_CHARACTER.get(character));
  return bytes.every((byte) => byte !== undefined) ? Uint8Array.from(bytes) : Buffer.from(written);
}
