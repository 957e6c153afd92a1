/** The beginning of a text of which more may come: answers only what the rest cannot change. */

/** Longest run of characters that is skipped. Without a limit a decision could be postponed without end. */
const RUN_MAX_CHARS = 20;

const WORD_CHARACTER = /[\p{L}'’]/u;

/** Whether a character is white space of any kind. */
export function isSpace(character: string): boolean {
  return /^\s$/.test(character);
}

/** The text so far. */
export class Window {
  readonly text: string;
  readonly #isWhole: boolean;
  /** Characters (UTF-16 units) that are certain: half of a surrogate pair at the end does not count. */
  readonly length: number;

  /** @param isWhole no more text will come */
  constructor(text: string, isWhole: boolean) {
    this.text = text;
    this.#isWhole = isWhole;
    const isHalf = !isWhole && /[\ud800-\udbff]$/.test(text.slice(-1));
    this.length = isHalf ? text.length - 1 : text.length;
  }

  /** The character at `index`, with both halves of a pair; empty after the end. */
  at(index: number): string {
    const code = index < this.length ? this.text.codePointAt(index) : undefined;
    return code === undefined ? '' : String.fromCodePoint(code);
  }

  /** Whether it is known what is at `index`: a character, or the end of the text. */
  has(index: number): boolean {
    return this.#isWhole || index < this.length;
  }

  /** The end of the run of characters from `from` on that `belongs` accepts; null = not known yet. */
  skip(from: number, belongs: (character: string) => boolean): number | null {
    let at = from;
    while (at < this.length && at - from < RUN_MAX_CHARS && belongs(this.text.charAt(at))) at++;
    return this.has(at) ? at : null;
  }

  skipSpace(from: number): number | null {
    return this.skip(from, isSpace);
  }

  /**
   * The word at `from`, in lower case and with plain apostrophes; empty when there is none or it has more than
   * `maxChars` characters. Null = not known yet.
   */
  word(from: number, maxChars: number): string | null {
    let at = from;
    while (at < this.length && at - from <= maxChars && WORD_CHARACTER.test(this.text.charAt(at))) at++;
    if (at - from > maxChars) return '';
    return this.has(at) ? this.text.slice(from, at).toLowerCase().replace(/’/g, "'") : null;
  }
}
