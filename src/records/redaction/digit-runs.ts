/** Digits that are said or written one after the other, as one number. */
import { type Cue, cueAt, cueFor } from './cues.ts';
import {
  BEFORE_PRONOUN,
  DIVIDERS,
  FILLERS,
  ORDINALS,
  POWER_WORDS,
  REPEAT_WORDS,
  TEEN_WORDS,
  TENS_WORDS,
  UNIT_WORDS,
  UNITS_OF_MEASURE,
  WEAK_ZEROS,
} from './number-words.ts';
import type { Token } from './tokens.ts';

/** One number word or one run of figures: "four", "double four", "forty-one", "4111". */
export interface DigitAtom {
  readonly digits: string;
  /** Tokens, the end not counted. */
  readonly from: number;
  readonly to: number;
  /** A new group of digits begins here: "4111 1111" has two, "four one one one" has one. */
  readonly opensGroup: boolean;
  /** A nought only beside other digits: "oh". */
  readonly isWeak: boolean;
  /** How many digits of its run stand before it. */
  readonly offset: number;
}

/** The atoms of one number. */
export interface DigitRun {
  readonly atoms: readonly DigitAtom[];
  readonly digits: string;
}

type Atom = Omit<DigitAtom, 'opensGroup' | 'offset'>;
type PlacedAtom = Omit<DigitAtom, 'offset'>;
/** What stands at a token: digits, a quantity that is no dictated number, or neither. */
type Read = { readonly kind: 'atom'; readonly atom: Atom } | { readonly kind: 'quantity'; readonly to: number } | null;

/** Between the atoms of a number, in one text. */
const GAP_MAX_TOKENS = 4;
/** Words before the digits that go on with a number in the next text: "and then it's". */
const LEAD_MAX_TOKENS = 5;
/** Texts without digits in the middle of a number: "one moment", "are you there". */
const INTERLUDES_MAX = 2;
const JOINING_SIGNS = new Set('-–—‐‑−./,()+#*:;\'"“”…·?!'.split(''));
const CURRENCY = new Set('$€£¥₹'.split(''));
/** Longer ones are no quantity, whatever stands behind them. */
const QUANTITY_MAX_DIGITS = 4;
/** With more figures, "4,111,111,…" is a number that was grouped wrongly. */
const THOUSANDS_MAX_DIGITS = 9;
/** "4.111.111.…" is looked at so far. */
const GLUED_MAX_PARTS = 8;
/** Letters right before figures make a code of them, unless these are as many. */
const GLUED_MIN_DIGITS = 12;

/** The runs of digits in `tokens`, in order. `context` = what number was asked for; null = none was. */
export function findDigitRuns(tokens: readonly Token[], context: Cue | null = null): DigitRun[] {
  const runs: DigitRun[] = [];
  let atoms: PlacedAtom[] = [];
  let quantityIn = -1;
  const close = (): void => {
    const run = toRun(withoutWeakEdges(atoms, tokens));
    if (run.atoms.length > 0) runs.push(run);
    atoms = [];
  };
  for (let index = 0; index < tokens.length; ) {
    const read = readNumber(tokens, index, context);
    if (read === null) index++;
    else if (read.kind === 'quantity') {
      quantityIn = tokens[index]?.piece ?? 0;
      if (tokens[(atoms.at(-1)?.to ?? 0) - 1]?.piece === quantityIn) close();
      index = read.to;
    } else {
      const last = atoms.at(-1);
      // "One second" between two groups of digits does not part them, "$5" beside one does.
      const isParted = tokens[index]?.piece === quantityIn && tokens[(last?.to ?? 0) - 1]?.piece !== quantityIn;
      if (last !== undefined && (isParted || !isJoined(tokens, last, read.atom))) close();
      atoms.push({ ...read.atom, opensGroup: opensGroup(tokens, atoms.at(-1), read.atom) });
      index = read.atom.to;
    }
  }
  close();
  return runs;
}

function toRun(placed: readonly PlacedAtom[]): DigitRun {
  let digits = '';
  const atoms = placed.map((atom) => {
    const offset = digits.length;
    digits += atom.digits;
    return { ...atom, offset };
  });
  return { atoms, digits };
}

/** Whether only what may stand inside a number lies behind token `from` in `tokens`. */
export function isRestJoining(tokens: readonly Token[], from: number): boolean {
  return tokens.length - from <= GAP_MAX_TOKENS && tokens.slice(from).every(isJoining);
}

/** The number that begins at a token, if one does. */
export function readNumber(tokens: readonly Token[], index: number, context: Cue | null = null): Read {
  const token = tokens[index];
  if (token === undefined || token.kind === 'sign') return null;
  return token.kind === 'figures' ? readFigures(tokens, index, context) : readWords(tokens, index);
}

function readFigures(tokens: readonly Token[], index: number, context: Cue | null): Read {
  const first = tokens[index]?.key ?? '';
  const parts = gluedFigures(tokens, index);
  const digits = parts.map(({ key }) => key).join('');
  const to = index + parts.length * 2 - 1;
  const sign = tokens[index + 1]?.key;
  const isThousands = sign === ',' && parts.length > 1 && parts.slice(1).every(({ key }) => key.length === 3);
  const isDecimal = sign === '.' && parts.length === 2 && (parts[1]?.key.length ?? 0) <= 2;
  const isTime = sign === ':' && parts.length <= 3 && parts.every(({ key }) => key.length <= 2);
  if (isThousands && first.length <= 3) {
    const isLong = digits.length > THOUSANDS_MAX_DIGITS && !CURRENCY.has(tokens[index - 1]?.key ?? '');
    const isNumber = isLong || isNamed(tokens, index, to, context);
    return isNumber ? atomOf(digits, index, to) : { kind: 'quantity', to };
  }
  if (isDecimal || isTime) return { kind: 'quantity', to };
  if (isCode(tokens, index)) return { kind: 'quantity', to: index + 1 };
  return withPower(tokens, first, index, index + 1);
}

/** The figures from `index` on that one sign glues together, all by the same sign. */
function gluedFigures(tokens: readonly Token[], index: number): Token[] {
  const parts = [tokens[index] as Token];
  const sign = tokens[index + 1]?.key ?? '';
  if (!['.', ',', ':'].includes(sign)) return parts;
  for (let at = index + 1; parts.length < GLUED_MAX_PARTS; at += 2) {
    const [join, next] = [tokens[at], tokens[at + 1]];
    if (join?.key !== sign || next?.kind !== 'figures' || !join.isGlued || !next.isGlued) return parts;
    parts.push(next);
  }
  return parts;
}

/** A recogniser writes "account 22,279,781". */
function isNamed(tokens: readonly Token[], from: number, to: number, context: Cue | null): boolean {
  const cue = cueFor(tokens, from, to) ?? context;
  return cue !== null && cue !== 'other' && !CURRENCY.has(tokens[from - 1]?.key ?? '');
}

/** "B12" and "4th" are no dictated numbers, nor is "$5". */
function isCode(tokens: readonly Token[], index: number): boolean {
  const [before, token, behind] = [tokens[index - 1], tokens[index], tokens[index + 1]];
  if (token === undefined || token.key.length >= GLUED_MIN_DIGITS) return false;
  if (before !== undefined && CURRENCY.has(before.key)) return true;
  if (token.isGlued && before?.kind === 'word') return true;
  return behind?.isGlued === true && behind.kind === 'word';
}

function readWords(tokens: readonly Token[], index: number): Read {
  const key = tokens[index]?.key ?? '';
  const repeats = REPEAT_WORDS.get(key);
  if (repeats !== undefined) return readRepeated(tokens, index, repeats);
  if (WEAK_ZEROS.has(key)) return { kind: 'atom', atom: { digits: '0', from: index, to: index + 1, isWeak: true } };
  if (ORDINALS.has(key)) return { kind: 'quantity', to: index + 1 };
  const tens = TENS_WORDS.get(key);
  if (tens !== undefined) {
    const unitAt = tokens[index + 1]?.key === '-' ? index + 2 : index + 1;
    const unit = UNIT_WORDS.get(tokens[unitAt]?.key ?? '');
    if (unit !== undefined && unit !== '0') return withPower(tokens, tens + unit, index, unitAt + 1);
    return withPower(tokens, `${tens}0`, index, index + 1);
  }
  if (key === 'one' && isPronoun(tokens, index)) return null;
  const digits = UNIT_WORDS.get(key) ?? TEEN_WORDS.get(key);
  return digits === undefined ? null : withPower(tokens, digits, index, index + 1);
}

/** "This one", "one thing"; but not "four one please". */
function isPronoun(tokens: readonly Token[], index: number): boolean {
  const [before, behind] = [tokens[index - 1], tokens[index + 1]];
  if (before !== undefined && BEFORE_PRONOUN.has(before.key)) return true;
  if (before !== undefined && (before.kind === 'figures' || isNumberWord(before.key))) return false;
  return behind?.kind === 'word' && !FILLERS.has(behind.key) && !isNumberWord(behind.key);
}

function isNumberWord(key: string): boolean {
  if (UNIT_WORDS.has(key) || TEEN_WORDS.has(key) || TENS_WORDS.has(key)) return true;
  return WEAK_ZEROS.has(key) || REPEAT_WORDS.has(key) || POWER_WORDS.has(key);
}

/** "Double four", "triple 2", "double, oh", and "double 2217", whose first digit counts twice. */
function readRepeated(tokens: readonly Token[], index: number, times: number): Read {
  const at = tokens[index + 1]?.key === ',' ? index + 2 : index + 1;
  const { key = '' } = tokens[at] ?? {};
  const digits = WEAK_ZEROS.has(key) ? '0' : (UNIT_WORDS.get(key) ?? key);
  if (!/^\d+$/.test(digits)) return null;
  return atomOf(digits.charAt(0).repeat(times - 1) + digits, index, at + 1);
}

/** "Eight hundred" adds noughts; what is measured behind a number makes a quantity of it. */
function withPower(tokens: readonly Token[], digits: string, from: number, end: number): Read {
  const power = POWER_WORDS.get(tokens[end]?.key ?? '');
  const to = power === undefined ? end : end + 1;
  const whole = digits + (power ?? '');
  const next = tokens[to];
  const isMeasured =
    next !== undefined && (UNITS_OF_MEASURE.has(next.key) || next.key === '%' || CURRENCY.has(next.key));
  if (isMeasured && digits.length <= QUANTITY_MAX_DIGITS) return { kind: 'quantity', to };
  return atomOf(whole, from, to);
}

function atomOf(digits: string, from: number, to: number): Read {
  return { kind: 'atom', atom: { digits, from, to, isWeak: false } };
}

/** Whether `token` may stand between the digits of one number. */
export function isJoining(token: Token): boolean {
  return token.kind === 'sign' ? JOINING_SIGNS.has(token.key) : FILLERS.has(token.key);
}

function isJoined(tokens: readonly Token[], before: Atom, behind: Atom): boolean {
  const [last, first] = [tokens[before.to - 1], tokens[behind.from]];
  if (last === undefined || first === undefined) return false;
  const gap = tokens.slice(before.to, Math.min(behind.from, before.to + 64));
  if (last.piece === first.piece) return gap.length <= GAP_MAX_TOKENS && gap.every(isJoining);
  if (first.piece - last.piece - 1 > INTERLUDES_MAX || gap.length === 64) return false;
  const [tail, lead] = [
    gap.filter(({ piece }) => piece === last.piece),
    gap.filter(({ piece }) => piece === first.piece),
  ];
  if (!tail.every(isJoining) || lead.length > LEAD_MAX_TOKENS) return false;
  return lead.every((_, index) => cueAt(tokens, behind.from - lead.length + index) === null);
}

function opensGroup(tokens: readonly Token[], before: Atom | undefined, atom: Atom): boolean {
  if (before === undefined) return true;
  const gap = tokens.slice(before.to, atom.from);
  if (tokens[before.to - 1]?.piece !== tokens[atom.from]?.piece) return true;
  if (gap.some(({ kind, key }) => kind === 'sign' || DIVIDERS.has(key))) return true;
  const isFigures = tokens[atom.from]?.kind === 'figures';
  return isFigures && (atom.digits.length > 1 || before.digits.length > 1);
}

/** "Oh" counts where a digit stands right beside it. */
function withoutWeakEdges(atoms: readonly PlacedAtom[], tokens: readonly Token[]): readonly PlacedAtom[] {
  let [from, to] = [0, atoms.length];
  while (from < to && atoms[from]?.isWeak && !touches(atoms[from], atoms[from + 1], tokens)) from++;
  while (from < to && atoms[to - 1]?.isWeak && !touches(atoms[to - 2], atoms[to - 1], tokens)) to--;
  return atoms.slice(from, to);
}

/** Somebody who says digits one by one says nothing else in that utterance. */
function isAlone({ from, to }: Atom, tokens: readonly Token[]): boolean {
  const piece = tokens[from]?.piece;
  const isWord = (token: Token | undefined): boolean => token?.piece === piece && token?.kind !== 'sign';
  return !isWord(tokens[from - 1]) && !isWord(tokens[to]);
}

function touches(a: Atom | undefined, b: Atom | undefined, tokens: readonly Token[]): boolean {
  if (a === undefined || b === undefined) return false;
  const isSamePiece = tokens[a.from]?.piece === tokens[b.from]?.piece;
  return isSamePiece ? a.to === b.from : isAlone(a.isWeak ? a : b, tokens);
}
