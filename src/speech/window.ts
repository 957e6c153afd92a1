/** A stretch of text of which more may come: looks ahead as far as that can be answered. */

/**
 * Longest run that is looked over; behind it the rest counts as something else. Without a bound a decision could be put
 * off for ever.
 */
const RUN_MAX_CHARS = 20;

const WORD_CHARACTER = /[\p{L}'’]/u;

/** Whether a character is white space of any kind. */
export function isSpace(character: string): boolean {
  return /^\s$/.test(character);
}

/** The text that is there so far, and whether it is all there is. */
export class Window {
  readonly text: string;
  readonly #isWhole: boolean;
  /** Characters (UTF-16 units) that can be looked at; a surrogate pair of which one half has come is not yet there. */
  readonly length: number;

  /** @param isWhole no more text will come */
  constructor(text: string, isWhole: boolean) {
    this.text = text;
    this.#isWhole = isWhole;
    const isHalf = !isWhole && /[\ud800-\udbff]$/.test(text.slice(-1));
    this.length = isHalf ? text.length - 1 : text.length;
  }

  /** The character at `index`, both halves of a pair; empty behind the end. */
  at(index: number): string {
    const code = index < this.length ? this.text.codePointAt(index) : undefined;
    return code === undefined ? '' : String.fromCodePoint(code);
  }

  /** Whether it is known what stands at `index`: a character, or the end of the text. */
  has(index: number): boolean {
    return this.#isWhole || index < this.length;
  }

  /** Where the run of characters that `belongs` accepts ends, from `from` on; null = that is not known yet. */
  skip(from: number, belongs: (character: string) => boolean): number | null {
    let at = from;
    while (at < this.length && at - from < RUN_MAX_CHARS && belongs(this.text.charAt(at))) at++;
    return this.has(at) ? at : null;
  }

  skipSpace(from: number): number | null {
    return this.skip(from, isSpace);
  }

  /**
   * The word that begins at `from`, in lower case and with plain apostrophes; empty when none does or it has more than
   * `maxChars` characters. Null = it has not come in full.
   */
  word(from: number, maxChars: number): string | null {
    let at = from;
    while (at < this.length && at - from <= maxChars && WORD_CHARACTER.test(this.text.charAt(at))) at++;
    if (at - from > maxChars) return '';
    return this.has(at) ? this.text.slice(from, at).toLowerCase().replace(/’/g, "'") : null;
  }
}
