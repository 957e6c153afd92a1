/** Says what a run of digits is: card, account, telephone or social security number, or a code. */
import { cardLengths, isSocialSecurityNumber, looksLikePhone, passesLuhn } from './checks.ts';
import type { Cue } from './cues.ts';
import type { DigitRun } from './digit-runs.ts';
import type { PrivateKind } from './finding.ts';

/** Atoms of a run, the end not counted. */
export interface NumberFound {
  readonly kind: PrivateKind;
  readonly from: number;
  readonly to: number;
}

/** What is known of a run beside its digits. */
export interface RunContext {
  /** The word that names it; null = none does. */
  readonly cue: Cue | null;
  /** A plus sign stands before it. */
  readonly hasPlus: boolean;
}

const CARD_MIN_DIGITS = 13;
const CARD_MAX_DIGITS = 19;
/**
 * With these words before it, so many digits are enough: the recogniser loses and mistakes some, and nobody says why
 * the check digit fails.
 */
const NAMED_CARD_MIN_DIGITS = 7;
const NAMED_ACCOUNT_MIN_DIGITS = 5;
const NAMED_PHONE_MIN_DIGITS = 7;
const NAMED_SSN_MIN_DIGITS = 4;
/**
 * Without a word for what it is, so long a number is that of somebody's card, telephone, account or insurance, with
 * digits that were understood wrongly or lost: other numbers are named by those who say them.
 */
const UNNAMED_MIN_DIGITS = 7;
const CODE_DIGITS = { min: 3, max: 8 };
/** A birthday of figures alone: from the year to "06 04 1984". */
const BIRTH_DIGITS = { min: 4, max: 8 };
const PHONE_WITH_PLUS_DIGITS = { min: 8, max: 15 };
/** Groups of a run that are combined with one another; longer runs are taken whole. */
const GROUPS_MAX = 16;

/** What is private in `run`, in order, without overlaps. */
export function findNumbers(run: DigitRun, context: RunContext): NumberFound[] {
  const whole = { from: 0, to: run.atoms.length };
  const card = findCard(run, context);
  if (card !== null) return [card, ...findBeside(run, card, context)];
  const named = namedKind(run.digits.length, context.cue);
  if (named !== null) return [{ ...whole, kind: named }];
  const windows = groupWindows(run);
  const ssn = windows.find((window) => isGroupedSsn(run, window) && context.cue !== 'other');
  if (ssn !== undefined) return [{ kind: 'ssn', from: ssn.from, to: ssn.to }];
  const phone = windows.find((window) => isPhone(run, window, context));
  if (phone !== undefined) return [{ kind: 'phone', from: phone.from, to: phone.to }];
  return context.cue !== 'other' && run.digits.length >= UNNAMED_MIN_DIGITS ? [{ ...whole, kind: 'number' }] : [];
}

/** What stands right before or behind a card number belongs to it: its end date, its code, a group said twice. */
function findBeside(run: DigitRun, { from, to }: NumberFound, context: RunContext): NumberFound[] {
  const parts = [
    { from: 0, to: from },
    { from: to, to: run.atoms.length },
  ];
  return parts.flatMap((part) => {
    const digits = digitsOf(run, part);
    if (digits.length < CODE_DIGITS.min) return [];
    const kind = looksLikePhone(digits) || context.cue === 'phone' ? 'phone' : 'card';
    return [{ ...part, kind } as const];
  });
}

interface Window {
  readonly from: number;
  readonly to: number;
}

function findCard(run: DigitRun, { cue }: RunContext): NumberFound | null {
  if (run.digits.length < NAMED_CARD_MIN_DIGITS) return null;
  const whole = { from: 0, to: run.atoms.length };
  const certain = [...groupWindows(run), ...networkWindows(run)].find((window) => isCard(digitsOf(run, window), cue));
  if (certain !== undefined) return { kind: 'card', from: certain.from, to: certain.to };
  if (cue === 'card') return { kind: 'card', ...whole };
  return cue !== 'other' && isMisheardCard(run) ? { kind: 'card', ...whole } : null;
}

/** Beside a word for another number, only what is numbered like a card of a large network is one. */
function isCard(digits: string, cue: Cue | null): boolean {
  if (digits.length < CARD_MIN_DIGITS || digits.length > CARD_MAX_DIGITS || !passesLuhn(digits)) return false;
  if (/^(\d)\1*$/.test(digits)) return false;
  return cardLengths(digits).includes(digits.length) || !['other', 'account', 'phone', 'iban'].includes(cue ?? '');
}

/** As long as card numbers are, which nothing else is that people dictate: a digit was understood wrongly or lost. */
function isMisheardCard({ digits }: DigitRun): boolean {
  return digits.length >= CARD_MIN_DIGITS && digits.length <= CARD_MAX_DIGITS;
}

function namedKind(length: number, cue: Cue | null): PrivateKind | null {
  if (cue === 'account' && length >= NAMED_ACCOUNT_MIN_DIGITS) return 'account';
  if (cue === 'iban' && length >= NAMED_ACCOUNT_MIN_DIGITS) return 'iban';
  if (cue === 'phone' && length >= NAMED_PHONE_MIN_DIGITS) return 'phone';
  if (cue === 'ssn' && length >= NAMED_SSN_MIN_DIGITS) return 'ssn';
  if (cue === 'code' && length >= CODE_DIGITS.min && length <= CODE_DIGITS.max) return 'code';
  if (cue === 'birth' && length >= BIRTH_DIGITS.min && length <= BIRTH_DIGITS.max) return 'birth';
  return null;
}

/** "123-45-6789", "123 45 6789". */
function isGroupedSsn(run: DigitRun, window: Window): boolean {
  const shape = groupsOf(run, window).map(({ from, to }) => digitsOf(run, { from, to }).length);
  return shape.join('-') === '3-2-4' && isSocialSecurityNumber(digitsOf(run, window));
}

function isPhone(run: DigitRun, window: Window, { cue, hasPlus }: RunContext): boolean {
  if (cue === 'other' && !hasPlus) return false;
  const digits = digitsOf(run, window);
  if (looksLikePhone(digits)) return true;
  const isWhole = window.from === 0 && window.to === run.atoms.length;
  const { min, max } = PHONE_WITH_PLUS_DIGITS;
  return isWhole && (hasPlus || digits.startsWith('00')) && digits.length >= min && digits.length <= max;
}

function digitsOf(run: DigitRun, { from, to }: Window): string {
  const end = run.atoms[to - 1];
  return run.digits.slice(run.atoms[from]?.offset ?? 0, end === undefined ? 0 : end.offset + end.digits.length);
}

function groupsOf(run: DigitRun, { from, to }: Window): Window[] {
  const starts: number[] = [];
  for (let index = from; index < to; index++) if (index === from || run.atoms[index]?.opensGroup) starts.push(index);
  return starts.map((start, index) => ({ from: start, to: starts[index + 1] ?? to }));
}

/** All stretches of whole groups, the longest first. */
function groupWindows(run: DigitRun): Window[] {
  const whole = { from: 0, to: run.atoms.length };
  const groups = groupsOf(run, whole);
  if (groups.length > GROUPS_MAX) return [whole];
  const windows = groups.flatMap(({ from }, first) => groups.slice(first).map(({ to }) => ({ from, to })));
  return windows.toSorted((a, b) => b.to - b.from - (a.to - a.from));
}

/** Stretches that have the first digits and the length of a network's cards. */
function networkWindows(run: DigitRun): Window[] {
  const windows: Window[] = [];
  let end = 0;
  let length = 0;
  for (let from = 0; from < run.atoms.length; from++) {
    while (end < run.atoms.length && length < CARD_MAX_DIGITS) length += run.atoms[end++]?.digits.length ?? 0;
    const digits = digitsOf(run, { from, to: end });
    const [usual = 0] = cardLengths(digits);
    const to = endAt(run, from, usual);
    if (to !== null) windows.push({ from, to });
    length -= run.atoms[from]?.digits.length ?? 0;
  }
  return windows;
}

/** The atom behind exactly `length` digits from atom `from` on; null = no atom ends there. */
function endAt(run: DigitRun, from: number, length: number): number | null {
  let counted = 0;
  for (let index = from; index < run.atoms.length && counted < length; index++) {
    counted += run.atoms[index]?.digits.length ?? 0;
    if (counted === length) return index + 1;
  }
  return null;
}
