/** Tokens in parts that can be looked up, grouped into the words that they were written as. */
import { CAPITAL, isAlphabetic, LETTER, SMALL, WORD } from './characters.ts';
import { CURRENCIES } from './number-reader.ts';
import { newToken, type Token } from './token.ts';

/** Marks that are phonemes too: pauses and intonation. */
const MARKS: ReadonlySet<string> = new Set(';:,.!?—…"“”');
const MARK_TAGS: ReadonlySet<string> = new Set(['.', ',', '-LRB-', '-RRB-', '``', '""', "''", ':', '$', '#', 'NFP']);
const PHONEMES_OF_TAG: ReadonlyMap<string, string> = new Map([
  ['-LRB-', '('],
  ['-RRB-', ')'],
  ['``', '“'],
  ['""', '”'],
  ["''", '”'],
]);
const DASH = '—';
const ASCII_LETTERS = /^[A-Za-z]*$/;

/** Runs of letters, cut where a capital begins a word (`iPhone`); numbers; hyphens; quotes; each other character. */
const PARTS = new RegExp(
  [
    "^['‘’]+",
    `[${CAPITAL}](?=[${CAPITAL}][${SMALL}])`,
    String.raw`(?:^-)?(?:\p{Nd}?[,.]?\p{Nd})+`,
    '[-_]+',
    "['‘’]{2,}",
    `[${LETTER}]*?(?:['‘’][${LETTER}])*?[${SMALL}](?=[${CAPITAL}])`,
    `[${LETTER}]+(?:['‘’][${LETTER}])*`,
    String.raw`[^${WORD}\-'‘’]`,
    "['‘’]$",
  ].join('|'),
  'gu',
);

/**
 * Parts of one word at most. What is written without a space is tried in all combinations of its parts, which takes the
 * cube of their number.
 */
const WORD_MAX_PARTS = 32;

/** The words of a line: each at least one part, the last one followed by white space or by a mark. */
export function groupWords(tokens: readonly Token[]): Token[][] {
  const words: Token[][] = [];
  let isOpen = false;
  for (const part of readMarks(tokens)) {
    const word = words.at(-1);
    const isKnown = part.alias !== null || part.phonemes !== null;
    if (!isKnown && isOpen && word !== undefined && word.length < WORD_MAX_PARTS) {
      part.isHead = false;
      word.push(part);
    } else words.push([part]);
    isOpen = !isKnown && !part.space;
  }
  return words;
}

/** The parts of the tokens; marks have their phonemes, and amounts know their currency. */
function readMarks(tokens: readonly Token[]): Token[] {
  let currency: string | null = null;
  return tokens.flatMap((token, at) => {
    const parts = token.phonemes === null ? splitToken(token) : [token];
    for (const [index, part] of parts.entries()) {
      if (part.phonemes !== null) continue;
      const phonemes = phonemesOfMark(part);
      if (phonemes !== null) {
        part.phonemes = phonemes;
        if (isCurrency(part)) currency = part.text;
      } else if (currency !== null) {
        if (part.tag !== 'CD') currency = null;
        else if (index === parts.length - 1 && tokens[at + 1]?.tag !== 'CD') part.currency = currency;
      } else if (part.text === '2' && isBetweenLetters(parts, index)) part.alias = 'to';
    }
    return parts;
  });
}

function splitToken(token: Token): Token[] {
  const parts = Array.from(token.text.match(PARTS) ?? [token.text], (text) => newToken(text, token.tag, false));
  const last = parts.at(-1);
  if (last !== undefined) last.space = token.space;
  return parts;
}

/** Null for what is no mark. */
function phonemesOfMark(part: Token): string | null {
  const { tag, text } = part;
  if (isCurrency(part)) return '';
  if (tag === ':' && (text === '-' || text === '–')) return DASH;
  if (!MARK_TAGS.has(tag) || ASCII_LETTERS.test(text)) return null;
  return PHONEMES_OF_TAG.get(tag) ?? Array.from(text, (character) => (MARKS.has(character) ? character : '')).join('');
}

function isCurrency({ tag, text }: Token): boolean {
  return tag === '$' && CURRENCIES.has(text);
}

/** As in `B2B`. */
function isBetweenLetters(parts: readonly Token[], index: number): boolean {
  const before = parts[index - 1]?.text.at(-1);
  const behind = parts[index + 1]?.text.at(0);
  return before !== undefined && behind !== undefined && isAlphabetic(before + behind);
}
