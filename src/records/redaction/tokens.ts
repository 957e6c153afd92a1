/** Cuts texts into words, figures and signs, with their places. */

/** A word, a run of figures, or one sign. */
export interface Token {
  readonly kind: 'word' | 'figures' | 'sign';
  /** Words in lower case without apostrophes; figures as 0–9 whatever script they are written in. */
  readonly key: string;
  /** Which of the texts it stands in, from 0. */
  readonly piece: number;
  /** Characters of that text. */
  readonly from: number;
  readonly to: number;
  /** Nothing stands between it and the token before it. */
  readonly isGlued: boolean;
}

const TOKEN = /([\p{L}\p{M}]+(?:['’]\p{L}+)*)|(\p{Nd}+)|(\S)/gu;
const DIGIT = /\p{Nd}/u;
const ASCII_DIGITS = /^[0-9]+$/;

/** The tokens of `pieces`, texts that were said one after the other. */
export function tokenise(pieces: readonly string[]): Token[] {
  const tokens: Token[] = [];
  pieces.forEach((text, piece) => {
    let end = -1;
    for (const match of text.matchAll(TOKEN)) {
      const [whole, word, figures] = match;
      const from = match.index;
      const kind = word !== undefined ? 'word' : figures !== undefined ? 'figures' : 'sign';
      tokens.push({ kind, key: keyOf(kind, whole), piece, from, to: from + whole.length, isGlued: from === end });
      end = from + whole.length;
    }
  });
  return tokens;
}

function keyOf(kind: Token['kind'], text: string): string {
  if (kind === 'word') return text.toLowerCase().replace(/['’]/g, '');
  return kind === 'figures' ? toAsciiDigits(text) : text;
}

/** Unicode's decimal digits stand in blocks from 0 to 9 (Unicode 16, §4.6). */
function toAsciiDigits(figures: string): string {
  if (ASCII_DIGITS.test(figures)) return figures;
  return [...figures].map((digit) => String(valueOfDigit(digit.normalize('NFKC')))).join('');
}

function valueOfDigit(digit: string): number {
  if (ASCII_DIGITS.test(digit)) return Number(digit);
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && DIGIT.test(String.fromCodePoint(code - value - 1))) value++;
  return value;
}
