/** Texts without what does not matter for their meaning: capitals, accents, punctuation. */

/** Longer answers are not understood: who talks that long answers no question. Bounds the time of the parsers. */
export const ANSWER_MAX_CHARS = 600;

/** A word, a row of figures as it was written (`1,200.50`, `14:30`), or a sign that means something. */
export interface Token {
  readonly type: 'word' | 'figures' | 'sign';
  readonly text: string;
  /** Whether nothing stands between it and the token before. */
  readonly glued: boolean;
}

const MARKS = /\p{M}+/gu;
const APOSTROPHES = /[’‘ʼ`´]/g;
/** French and Italian articles before a vowel, which are words of their own. */
const ELISION = /(?<!\p{L})([cdjlmnst]|qu)'(?=\p{L})/gu;
/** Digits of other scripts than ours. */
const OTHER_DIGITS = /(?![0-9])\p{Nd}/gu;
const DOTTED = /(?<!\p{L})(?:\p{L}\.){2,}/gu;
const TOKEN = /(\d{4}-\d{1,2}-\d{1,2}(?!\d)|\d+(?:[.,:/]\d+)*)|(\p{L}+)|([$€£¥₹%+#*])|([-−](?=\d))/gu;

/** Every script has its ten digits in a row. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++;
  return String(value);
}

/** `Café O'Clock p.m.` → `cafe oclock pm`: small letters without accents, apostrophes and stops inside of words. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(MARKS, '')
    .replace(OTHER_DIGITS, asciiDigit)
    .toLowerCase()
    .replace(APOSTROPHES, "'")
    .replace(ELISION, '$1 ')
    .replace(DOTTED, (word) => word.replaceAll('.', ''))
    .replaceAll("'", '')
    .replaceAll('ß', 'ss')
    .replaceAll('œ', 'oe')
    .replaceAll('æ', 'ae');
}

/** The words of `text`, folded. */
export function foldWords(text: string): string[] {
  return fold(text).match(/\p{L}+|\p{N}+/gu) ?? [];
}

/** The tokens of `text`, folded. A hyphen counts only as the sign of a number. */
export function tokenise(text: string): Token[] {
  const tokens: Token[] = [];
  let end = -1;
  const folded = fold(text);
  for (const match of folded.matchAll(TOKEN)) {
    const [whole, figures, word, , minus] = match;
    const glued = match.index === end;
    end = match.index + whole.length;
    if (minus !== undefined && /[\p{L}\p{N})]\s?$/u.test(folded.slice(Math.max(0, match.index - 2), match.index)))
      continue;
    const type = figures !== undefined ? 'figures' : word !== undefined ? 'word' : 'sign';
    tokens.push({ type, text: minus === undefined ? whole : '-', glued });
  }
  return tokens;
}
