/** How much of an unfinished utterance may be shown. */
import { analyse } from './analyse.ts';
import { type Cue, cueAt } from './cues.ts';
import { readNumber } from './digit-runs.ts';
import { maskText } from './finding.ts';
import { MONTHS, REPEAT_WORDS, WEAK_ZEROS } from './number-words.ts';
import type { OwnPatterns } from './own-patterns.ts';
import { type Token, tokenise } from './tokens.ts';

/** A partial text, and what was said before it that it may go on with. */
export interface PartialText {
  readonly text: string;
  /** How many characters at its beginning will not change. */
  readonly stableChars: number;
  readonly before: readonly string[];
  readonly cue: Cue | null;
  readonly patterns: OwnPatterns;
}

/** What may be shown of it. */
export interface ShownPartial {
  readonly stable: string;
  readonly tail: string;
}

const MAIL_MARKS = new Set(['dot', 'underscore', '@', 'at']);
const MAIL_TOKENS = 10;

/**
 * Leaves out digits at the end, which may be an unfinished number, and everything behind them; masks what is certain.
 */
export function showPartial({ text, stableChars, before, cue, patterns }: PartialText): ShownPartial {
  const { findings, open } = analyse([...before, complete(text)], { cue, patterns });
  const piece = before.length;
  const spans = findings.flatMap(({ label, spans }) =>
    spans.filter((span) => span.piece === piece).map(({ from, to }) => ({ from, to, label })),
  );
  let end = Math.min(complete(text).length, expectedFrom(text, cue));
  for (const span of open?.spans ?? []) if (span.piece === piece) end = Math.min(end, span.from);
  for (const { from, to } of spans) if (from < end && to > end) end = from;
  const shown = spans.filter(({ to }) => to <= end);
  let stableEnd = Math.min(stableChars, end);
  for (const { from, to } of shown) if (from < stableEnd && to > stableEnd) stableEnd = from;
  const stable = maskText(
    text.slice(0, stableEnd),
    shown.filter(({ to }) => to <= stableEnd),
  );
  const whole = maskText(text.slice(0, end), shown).trimEnd();
  return stable.length <= whole.length ? { stable, tail: whole.slice(stable.length) } : { stable: whole, tail: '' };
}

/** Without words at its end that only say something with a digit behind them: "double", "plus". */
function complete(text: string): string {
  const tokens = tokenise([text]);
  let end = tokens.length;
  while (end > 0 && isUnfinished(tokens[end - 1])) end--;
  return end === tokens.length ? text : text.slice(0, tokens[end]?.from ?? 0);
}

function isUnfinished(token: Token | undefined): boolean {
  const key = token?.key ?? '';
  return REPEAT_WORDS.has(key) || WEAK_ZEROS.has(key) || key === 'plus' || key === '+' || key === '(' || key === '-';
}

/** Where an address or a date of birth may begin, which have no digits at first. */
function expectedFrom(text: string, expected: Cue | null): number {
  const tokens = tokenise([text]);
  let cue = expected;
  for (let index = 0; index < tokens.length; index++) {
    const [named, token] = [cueAt(tokens, index), tokens[index]];
    if (token !== undefined && cue === 'birth' && (MONTHS.has(token.key) || readNumber(tokens, index) !== null))
      return token.from;
    if (named !== null) cue = named;
    if (cue === 'email' && named === null && token?.kind === 'word' && !isLink(token.key)) return token.from;
  }
  return mailFrom(tokens) ?? text.length;
}

function isLink(key: string): boolean {
  return ['is', 'address', 'its', 'my', 'the', 'to', 'at', 'yes', 'sure', 'and'].includes(key);
}

/** The word before the first "dot" or "at" among the last words; null = there is none. */
function mailFrom(tokens: readonly Token[]): number | null {
  const first = Math.max(tokens.length - MAIL_TOKENS, 0);
  const mark = tokens.findIndex(({ key }, index) => index >= first && MAIL_MARKS.has(key));
  if (mark === -1 || (tokens[mark]?.key === 'at' && mark < tokens.length - 3)) return null;
  return tokens[Math.max(mark - 1, 0)]?.from ?? null;
}
