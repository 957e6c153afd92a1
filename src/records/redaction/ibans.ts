/** Finds IBANs, written in groups or without, and spelt: "D E eight nine three seven …". */
import { ibanLength, passesMod97 } from './checks.ts';
import { type Cue, cueFor } from './cues.ts';
import { isJoining, readNumber } from './digit-runs.ts';
import { SPELLING_WORDS } from './number-words.ts';
import type { Token } from './tokens.ts';

/** Tokens of an IBAN, the end not counted. */
interface TokenRange {
  readonly from: number;
  readonly to: number;
}

/** Letters or digits of one token, or of a number word of several. */
interface Unit extends TokenRange {
  readonly characters: string;
  /** Nothing but what may stand inside a number lies between it and the unit before. */
  readonly follows: boolean;
}

/** Banks' codes have four letters at most in a row. */
const LETTERS_MAX = 4;
/** Codes of countries that are words: "is 41" does not begin an IBAN of Iceland, "IS41" does. */
const COUNTRY_WORDS = new Set('at be by do is it me no so'.split(' '));
/** ISO 13616. */
const IBAN_MAX_CHARACTERS = 34;
const GAP_MAX_TOKENS = 4;
/** After the word IBAN, so many characters are enough: one may have been understood wrongly. */
const NAMED_MIN_CHARACTERS = 10;
const START = /^[A-Z]{2}\d{2}/;

/** The IBANs in `tokens`. `context` = what number was asked for; null = none was. */
export function findIbans(tokens: readonly Token[], context: Cue | null): TokenRange[] {
  const units = readUnits(tokens);
  const found: TokenRange[] = [];
  for (let index = 0; index < units.length; index++) {
    const range = ibanAt(units, index) ?? namedIbanAt(units, index, tokens, context);
    if (range === null) continue;
    found.push(range);
    while ((units[index + 1]?.from ?? Number.POSITIVE_INFINITY) < range.to) index++;
  }
  return found;
}

/** The token with which an IBAN begins that is not complete at the end of `tokens`; null = there is none. */
export function unfinishedIban(tokens: readonly Token[]): number | null {
  const units = readUnits(tokens);
  const begins = units.findIndex((_, index) => {
    const { characters, isToEnd } = charactersFrom(units, index, IBAN_MAX_CHARACTERS);
    return isToEnd && START.test(characters) && ibanLength(characters.slice(0, 2)) > characters.length;
  });
  return units[begins]?.from ?? null;
}

function ibanAt(units: readonly Unit[], index: number): TokenRange | null {
  const { characters: head } = charactersFrom(units, index, LETTERS_MAX);
  const length = START.test(head) ? ibanLength(head.slice(0, 2)) : 0;
  if (length === 0) return null;
  const { characters, to } = charactersFrom(units, index, length);
  return characters.length === length && passesMod97(characters) ? { from: units[index]?.from ?? 0, to } : null;
}

function namedIbanAt(
  units: readonly Unit[],
  index: number,
  tokens: readonly Token[],
  context: Cue | null,
): TokenRange | null {
  const { characters, to } = charactersFrom(units, index, IBAN_MAX_CHARACTERS, /^(\d+|[A-Z]|[A-Z]{2})$/);
  const first = units[index];
  if (first === undefined || characters.length < NAMED_MIN_CHARACTERS || !START.test(characters)) return null;
  if (ibanLength(characters.slice(0, 2)) === 0) return null;
  return (cueFor(tokens, first.from, to) ?? context) === 'iban' ? { from: first.from, to } : null;
}

/** Characters of the units from `index` on until there are `length`, or one is unlike `shape`. */
function charactersFrom(units: readonly Unit[], index: number, length: number, shape = /./) {
  let characters = '';
  let to = units[index]?.to ?? 0;
  let at = index;
  for (; at < units.length && characters.length < length; at++) {
    const unit = units[at];
    if (unit === undefined || (at > index && !unit.follows) || !shape.test(unit.characters)) break;
    characters += unit.characters;
    to = unit.to;
  }
  return { characters, to, isToEnd: at === units.length };
}

function readUnits(tokens: readonly Token[]): Unit[] {
  const units: Unit[] = [];
  for (let index = 0; index < tokens.length; ) {
    const [characters, to] = charactersAt(tokens, index);
    if (characters !== '') {
      const gap = tokens.slice(units.at(-1)?.to ?? 0, index);
      const follows = units.length > 0 && gap.length <= GAP_MAX_TOKENS && gap.every(isJoining);
      units.push({ characters, from: index, to, follows });
    }
    index = to;
  }
  return units;
}

function charactersAt(tokens: readonly Token[], index: number): readonly [string, number] {
  const token = tokens[index];
  if (token === undefined || token.kind === 'sign') return ['', index + 1];
  if (token.kind === 'figures') return [token.key, index + 1];
  const number = readNumber(tokens, index);
  if (number?.kind === 'atom') return [number.atom.digits, number.atom.to];
  const letter = SPELLING_WORDS.get(token.key);
  if (letter !== undefined) return [letter.toUpperCase(), index + 1];
  const isWord = COUNTRY_WORDS.has(token.key) && tokens[index + 1]?.isGlued !== true;
  const isLetters = !isWord && /^[a-z]+$/.test(token.key) && token.key.length <= LETTERS_MAX;
  return [isLetters ? token.key.toUpperCase() : '', index + 1];
}
