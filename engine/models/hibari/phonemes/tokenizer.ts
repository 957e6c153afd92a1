/**
 * Cuts a line into words and marks with spaCy's rules for English: https://spacy.io/usage/linguistic-features
 * (Tokenization). Exceptions first (contractions, `Mr.`, `10am`); then marks are taken off both ends of what stands
 * between spaces; hyphens and slashes cut what is left.
 */
import { CAPITAL, LETTER, SMALL, SPACE, WORD } from './characters.ts';

/** A token's text, and whether white space follows it. */
export interface Piece {
  readonly text: string;
  readonly space: boolean;
}

/** Texts of tokens that are cut in a way of their own. */
export type Exceptions = ReadonlyMap<string, readonly string[]>;

const MARKS = forClass('…,:;!?¿¡()[]{}<>_#*&。？！，、；：～·');
const QUOTES = forClass('\'"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉');
const ICONS = '™®©°§¶†‡•';
const CURRENCY = String.raw`\$|£|€|¥|฿|US\$|C\$|A\$|₽|₹|₩|₪|₺|₴|₦|₫|₱|₲|₵|₸|₼|₾|₿`;
const UNITS =
  'km|km²|km³|m|m²|m³|dm|dm²|dm³|cm|cm²|cm³|mm|mm²|mm³|ha|µm|nm|yd|in|ft|kg|g|mg|µg|t|lb|oz|m/s|km/h|' +
  'kmh|mph|hPa|Pa|mbar|mb|MB|kb|KB|gb|GB|tb|TB|T|G|M|K|%';

const PREFIX = new RegExp(
  String.raw`^(?:[§%=—–]|\+(?![0-9])|…|[${MARKS}]|\.\.+|[${QUOTES}]|${CURRENCY}|[${ICONS}])`,
  'u',
);
const SUFFIX = new RegExp(
  '(?:' +
    [
      String.raw`……?|[${MARKS}]|(?<!\.)\.\.+|[${QUOTES}${ICONS}]|'s|'S|’s|’S|[—–]`,
      String.raw`(?<=[0-9])\+|(?<=°[FfCcKk])\.|(?<=[0-9])(?:${CURRENCY})|(?<=[0-9])(?:${UNITS})`,
      String.raw`(?<=[0-9${SMALL}%²\-+${MARKS}${QUOTES}])\.|(?<=[${CAPITAL}][${CAPITAL}])\.`,
    ].join('|') +
    ')$',
  'u',
);
const INFIX = new RegExp(
  [
    String.raw`\.\.+|…|[${ICONS}]|(?<=[0-9])[+\-*^](?=[0-9-])`,
    String.raw`(?<=[${SMALL}${QUOTES}])\.(?=[${CAPITAL}${QUOTES}])|(?<=[${LETTER}]),(?=[${LETTER}])`,
    String.raw`(?<=[\p{L}\p{N}])(?:---|--|——|[-–—~])(?=[${LETTER}])|(?<=[\p{L}\p{N}])[:<>=/](?=[${LETTER}])`,
  ].join('|'),
  'gu',
);
const DOMAINS = 'com|org|net|edu|gov|io|co|uk|de|fr|info|biz|us|ca|au|tv|me|ly|ai';
const ADDRESS = new RegExp(
  String.raw`^(?:(?:https?|ftp)://|www\.)[^${SPACE}]+$|` +
    String.raw`^[${WORD}.+\-]+@[${WORD}\-]+(?:\.[${WORD}\-]+)+$|` +
    String.raw`^(?:[${WORD}\-]+\.)+(?:${DOMAINS})(?:/[^${SPACE}]*)?$`,
  'iu',
);
const CHUNK = new RegExp(`[^${SPACE}]+`, 'gu');

/** A suffix but for a row of stops is shorter than this, with what must precede it. */
const SUFFIX_MAX_CHARS = 8;
/** Pieces that may make an exception together. */
const REJOINED_PIECES = [3, 2] as const;

/** Cuts lines into tokens. */
export class Tokenizer {
  readonly #exceptions: Exceptions;

  constructor(exceptions: Exceptions) {
    this.#exceptions = exceptions;
  }

  /** The tokens of a text, in order. */
  split(text: string): Piece[] {
    return [...text.matchAll(CHUNK)].flatMap(({ 0: chunk, index }) => {
      const words = this.#splitChunk(chunk);
      const isFollowed = index + chunk.length < text.length;
      return words.map((word, at) => ({ text: word, space: isFollowed && at === words.length - 1 }));
    });
  }

  #splitChunk(chunk: string): readonly string[] {
    const exception = this.#exceptions.get(chunk);
    if (exception !== undefined) return exception;
    const { prefixes, core, suffixes } = this.#peel(chunk);
    const words = [...prefixes, ...this.#splitCore(core), ...suffixes.reverse()];
    return words.length > 1 ? this.#rejoin(words) : words;
  }

  /** Takes marks off both ends until nothing changes or an exception is left. */
  #peel(chunk: string): { prefixes: string[]; core: string; suffixes: string[] } {
    const prefixes: string[] = [];
    const suffixes: string[] = [];
    let core = chunk;
    while (core !== '' && !this.#exceptions.has(core)) {
      const prefix = PREFIX.exec(core)?.[0] ?? '';
      const behind = core.slice(prefix.length);
      if (prefix !== '' && this.#exceptions.has(behind))
        return { prefixes: [...prefixes, prefix], core: behind, suffixes };
      const suffix = suffixOf(behind);
      const before = core.slice(0, core.length - suffix.length);
      if (suffix !== '' && this.#exceptions.has(before))
        return { prefixes, core: before, suffixes: [...suffixes, suffix] };
      if (prefix === '' && suffix === '') break;
      if (prefix !== '') prefixes.push(prefix);
      if (suffix !== '') suffixes.push(suffix);
      core = core.slice(prefix.length, core.length - suffix.length);
    }
    return { prefixes, core, suffixes };
  }

  #splitCore(core: string): readonly string[] {
    if (core === '') return [];
    const exception = this.#exceptions.get(core);
    if (exception !== undefined) return exception;
    return ADDRESS.test(core) ? [core] : splitAtInfixes(core);
  }

  /** `Sept` and `.` are `Sept.` again. */
  #rejoin(words: readonly string[]): string[] {
    const joined: string[] = [];
    for (let at = 0; at < words.length; ) {
      const count = REJOINED_PIECES.find(
        (pieces) => at + pieces <= words.length && this.#exceptions.has(words.slice(at, at + pieces).join('')),
      );
      if (count === undefined) joined.push(words[at] ?? '');
      else joined.push(...(this.#exceptions.get(words.slice(at, at + count).join('')) ?? []));
      at += count ?? 1;
    }
    return joined;
  }
}

/** The mark at the end of `text`; it is looked for at the end alone, so that a long word costs no more than a short. */
function suffixOf(text: string): string {
  let start = text.length;
  while (text[start - 1] === '.') start--;
  start = Math.max(0, start - SUFFIX_MAX_CHARS);
  return SUFFIX.exec(start === 0 ? text : text.slice(start))?.[0] ?? '';
}

function splitAtInfixes(core: string): string[] {
  const words: string[] = [];
  let start = 0;
  for (const { 0: infix, index } of core.matchAll(INFIX)) {
    if (index === 0) continue;
    if (index > start) words.push(core.slice(start, index));
    words.push(infix);
    start = index + infix.length;
  }
  if (start < core.length) words.push(core.slice(start));
  return words;
}

/** For a class of characters in a pattern. */
function forClass(characters: string): string {
  return characters.replace(/[[\]{}()*?^$\\|/.]/g, String.raw`\$&`);
}
