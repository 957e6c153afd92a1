/** What Parakeet's tokens write. */
import { PieceEncoder, SPACE_MARK } from '../piece-encoder.ts';

/** `<unk>` and its like are said by the model, but write nothing. */
const CONTROL = /^<.*>$/;

/** A vocabulary of SentencePiece, with the blank behind its tokens. */
export class ParakeetVocabulary {
  /** The token that stands for nothing being said; tokens of text are below it. */
  readonly blank: number;
  readonly #pieces: readonly string[];
  #encoder: PieceEncoder | null = null;

  /** @param pieces what each token writes, the blank's last */
  constructor(pieces: readonly string[]) {
    this.blank = pieces.length - 1;
    this.#pieces = pieces;
  }

  /** The text of tokens that follow one another, without spaces around it. */
  textOf(tokens: readonly number[]): string {
    return tokens
      .map((token) => this.writtenBy(token))
      .join('')
      .trim();
  }

  /** What one token writes, with a space before a word. */
  writtenBy(token: number): string {
    const piece = this.#pieces[token] ?? '';
    return CONTROL.test(piece) ? '' : piece.replaceAll(SPACE_MARK, ' ');
  }

  /** What one token writes, in UTF-8. */
  pieceOf(token: number): Uint8Array {
    return new TextEncoder().encode(this.writtenBy(token));
  }

  /** Whether a word begins with this token. */
  beginsWord(token: number): boolean {
    return this.#pieces[token]?.startsWith(SPACE_MARK) ?? false;
  }

  /** The tokens of `text`; empty where it cannot be written. */
  encode(text: string): readonly number[] {
    this.#encoder ??= new PieceEncoder(this.#pieces);
    return this.#encoder.encode(text);
  }
}
