/**
 * `tokenizer.bin` of a Moonshine folder. For each token in order: its length, and its bytes in UTF-8. A length from 128
 * on takes two bytes: the low seven bits with the high bit set, then the rest. U+2581 stands for a space, `<0x41>` for
 * the byte 0x41; other tokens in angle brackets are control tokens.
 */
import { ModelFileError } from '../folder-files.ts';
import { PieceEncoder, SPACE_MARK } from '../piece-encoder.ts';
import type { TokenTexts } from '../token-texts.ts';

/** Longest file, in bytes: the published ones have 250 kB. */
export const TOKENIZER_MAX_BYTES = 16_777_216;

const TWO_BYTES = 0x80;
const BYTE = /^<0x([0-9A-F]{2})>$/;
const CONTROL = /^<.+>$/s;
/** Words begin with a space, and in scripts that write none with any character. */
const BEGINS_WORD = /^(?:\u2581|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/u;

/** The bytes of each token. @throws ModelFileError when `file` ends within a token, or has none, or over `most` */
export function readTokens(file: Uint8Array, most: number): Uint8Array[] {
  const tokens: Uint8Array[] = [];
  for (let at = 0; at < file.length; ) {
    if (tokens.length === most)
      throw new ModelFileError(
        `got more than ${most} tokens, expected one for each of the ${most} of the model at most`,
      );
    const first = file[at] ?? 0;
    const length = first < TWO_BYTES ? first : first - TWO_BYTES + TWO_BYTES * (file[at + 1] ?? 0);
    const from = at + (first < TWO_BYTES ? 1 : 2);
    at = from + length;
    if (at > file.length)
      throw new ModelFileError(
        `token ${tokens.length}: got ${Math.max(0, file.length - from)} bytes up to the end of the file, expected ` +
          `${length}`,
      );
    tokens.push(file.subarray(from, at));
  }
  if (tokens.length === 0) throw new ModelFileError('got an empty file, expected tokens');
  return tokens;
}

/** What tokens write, and which tokens a text has. */
export class TokenTable implements TokenTexts {
  readonly #written: readonly string[];
  readonly #pieces: readonly Uint8Array[];
  #encoder: PieceEncoder | null = null;

  /** @param tokens the bytes of each, as {@link readTokens} gives them */
  constructor(tokens: readonly Uint8Array[]) {
    const decoder = new TextDecoder();
    this.#written = tokens.map((bytes) => decoder.decode(bytes));
    this.#pieces = tokens.map((bytes, token) => toPiece(bytes, this.#written[token] ?? ''));
  }

  textOf(tokens: readonly number[]): string {
    return Buffer.concat(tokens.map((token) => this.pieceOf(token)))
      .toString('utf8')
      .trim();
  }

  pieceOf(token: number): Uint8Array {
    return this.#pieces[token] ?? new Uint8Array(0);
  }

  beginsWord(token: number): boolean {
    return BEGINS_WORD.test(this.#written[token] ?? '');
  }

  /** The tokens that the model writes for `text`, with its spaces; empty where it cannot be written. */
  encode(text: string): readonly number[] {
    this.#encoder ??= new PieceEncoder(this.#written);
    return this.#encoder.encode(text);
  }
}

function toPiece(bytes: Uint8Array, written: string): Uint8Array {
  const byte = BYTE.exec(written)?.[1];
  if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
  if (CONTROL.test(written)) return new Uint8Array(0);
  return written.includes(SPACE_MARK) ? new TextEncoder().encode(written.replaceAll(SPACE_MARK, ' ')) : bytes;
}
