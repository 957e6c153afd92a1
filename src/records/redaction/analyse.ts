/** Finds everything private in texts that one side said one after the other. */
import { findBirthDates } from './birth-dates.ts';
import { type Cue, cueFor } from './cues.ts';
import { type DigitAtom, type DigitRun, findDigitRuns, isRestJoining } from './digit-runs.ts';
import { findEmails } from './emails.ts';
import { type Finding, LABELS, type Span } from './finding.ts';
import { findIbans, unfinishedIban } from './ibans.ts';
import { findNumbers } from './numbers.ts';
import type { OwnPatterns } from './own-patterns.ts';
import { type Token, tokenise } from './tokens.ts';

/** Of an IBAN that is spelt. */
const IBAN_MAX_TOKENS = 80;

/** What is known beside the texts. */
export interface Surroundings {
  /** What number was asked for or named before; null = none. */
  readonly cue: Cue | null;
  readonly patterns: OwnPatterns;
}

/** Digits with which the last text ends: more may follow. */
export interface OpenNumber {
  /** All its digits, those in earlier texts too. */
  readonly digits: string;
  /** Its part in each text. */
  readonly spans: readonly Span[];
  /** What names it; null = nothing. */
  readonly cue: Cue | null;
  /** It begins like an IBAN, whose letters are in the spans as well. */
  readonly isIban: boolean;
}

/** What was found. */
export interface Analysis {
  /** Without overlaps, in no special order. */
  readonly findings: readonly Finding[];
  /** Null = the last text does not end in digits. */
  readonly open: OpenNumber | null;
  /** There are digits in the last text. */
  readonly hasDigits: boolean;
}

/** Analyses `pieces`, texts that one side said one after the other. Takes time in proportion to their length. */
export function analyse(pieces: readonly string[], { cue, patterns }: Surroundings): Analysis {
  const tokens = tokenise(pieces);
  const claimed = new Claims(pieces);
  for (const { label, spans } of patterns.find(pieces)) claimed.add(label, spans);
  for (const { from, to } of findIbans(tokens, cue)) claimed.add(LABELS.iban, spansOf(tokens, from, to));
  for (const { from, to } of findEmails(tokens, cue === 'email')) claimed.add(LABELS.email, spansOf(tokens, from, to));
  for (const { from, to } of findBirthDates(tokens, cue)) claimed.add(LABELS.birth, spansOf(tokens, from, to));
  const runs = findDigitRuns(tokens, cue);
  for (const run of runs) claimNumbers(tokens, run, cue, claimed);
  const last = runs.at(-1);
  const hasDigits = last !== undefined && tokens[rangeOf(last)[1] - 1]?.piece === pieces.length - 1;
  return { findings: claimed.findings, open: hasDigits ? openNumber(tokens, last, cue) : null, hasDigits };
}

/** Where digits are in `text`, at least `least` in a row. */
export function digitSpans(text: string, least: number): Span[] {
  const tokens = tokenise([text]);
  return findDigitRuns(tokens)
    .filter(({ digits }) => digits.length >= least)
    .flatMap(({ atoms }) => spansOfAtoms(tokens, atoms));
}

function claimNumbers(tokens: readonly Token[], run: DigitRun, cue: Cue | null, claimed: Claims): void {
  const [from, to] = rangeOf(run);
  const context = { cue: cueFor(tokens, from, to) ?? cue, hasPlus: isPlus(tokens[from - 1]) };
  for (const found of findNumbers(run, context)) {
    const spans = spansOfAtoms(tokens, run.atoms.slice(found.from, found.to));
    const [first, ...rest] = spans;
    const before = tokens[(run.atoms[found.from]?.from ?? 0) - 1];
    const isWidened = found.kind === 'phone' && (isPlus(before) || before?.key === '(');
    if (first === undefined) continue;
    const widened = isWidened && before?.piece === first.piece ? { ...first, from: before.from } : first;
    claimed.add(LABELS[found.kind], [widened, ...rest]);
  }
}

function openNumber(tokens: readonly Token[], run: DigitRun, cue: Cue | null): OpenNumber | null {
  const [from, to] = rangeOf(run);
  if (!isRestJoining(tokens, to)) return null;
  const named = cueFor(tokens, from, to) ?? cue;
  const { digits } = run;
  const window = Math.max(to - IBAN_MAX_TOKENS, 0);
  const iban = unfinishedIban(tokens.slice(window, to));
  const spans = iban === null ? spansOfAtoms(tokens, run.atoms) : spansOf(tokens, window + iban, to);
  return { digits, spans, cue: named, isIban: iban !== null };
}

function rangeOf({ atoms }: DigitRun): readonly [number, number] {
  return [atoms[0]?.from ?? 0, atoms.at(-1)?.to ?? 0];
}

function isPlus(token: Token | undefined): boolean {
  return token !== undefined && (token.key === '+' || token.key === 'plus');
}

/** As characters of their texts. What lies between two texts' digits is not among them: "one moment". */
function spansOfAtoms(tokens: readonly Token[], atoms: readonly DigitAtom[]): Span[] {
  const spans: Span[] = [];
  for (const { from, to } of atoms) {
    const [first, last] = [tokens[from], tokens[to - 1]];
    if (first === undefined || last === undefined) continue;
    const before = spans.at(-1);
    if (before?.piece === first.piece) spans[spans.length - 1] = { ...before, to: last.to };
    else spans.push({ piece: first.piece, from: first.from, to: last.to });
  }
  return spans;
}

/** The tokens from `from` to `to` as characters of their texts. */
function spansOf(tokens: readonly Token[], from: number, to: number): Span[] {
  const spans: Span[] = [];
  for (const { piece, from: start, to: end } of tokens.slice(from, to)) {
    const last = spans.at(-1);
    if (last?.piece === piece) spans[spans.length - 1] = { piece, from: last.from, to: end };
    else spans.push({ piece, from: start, to: end });
  }
  return spans;
}

/** Finds without overlaps: of two, the first counts. */
class Claims {
  readonly findings: Finding[] = [];
  readonly #taken: readonly Uint8Array[];

  constructor(pieces: readonly string[]) {
    this.#taken = pieces.map((text) => new Uint8Array(text.length));
  }

  add(label: string, wanted: readonly Span[]): void {
    const spans = wanted.filter(({ piece, from, to }) =>
      this.#taken[piece]?.subarray(from, to).every((is) => is === 0),
    );
    for (const { piece, from, to } of spans) this.#taken[piece]?.fill(1, from, to);
    if (spans.length > 0) this.findings.push({ label, spans });
  }
}
