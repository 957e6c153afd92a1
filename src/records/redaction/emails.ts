/** Finds e-mail addresses, written ("anna.lee@example.com") and spoken ("anna dot lee at example dot com"). */
import { cueAt } from './cues.ts';
import { UNIT_WORDS } from './number-words.ts';
import type { Token } from './tokens.ts';

/** Tokens of an address, the end not counted. */
interface TokenRange {
  readonly from: number;
  readonly to: number;
}

/** Last parts of domains that people say; after an `@` any word is taken. */
const TOP_DOMAINS = new Set(
  (
    'com net org edu gov mil info biz io co uk de fr es it nl be at ch eu us ca au nz ie se no dk fi pl pt cz ru jp ' +
    'in br mx za app dev ai me tv cloud online shop'
  ).split(' '),
);
/** Before "at", they are no name of a mailbox: "look at example dot com". */
const NO_NAMES = new Set(
  (
    'us me it them him her you we they is are was were be look looking find found visit visiting available online ' +
    'site website page here there more information details order ordered bought saw see start started work works ' +
    'working employed back and or to of on in the a an this that one hosted'
  ).split(' '),
);
const LOCAL_SIGNS = new Set('._-+'.split(''));
const LOCAL_WORDS = new Set('dot underscore dash hyphen plus point period'.split(' '));
const DOMAIN_WORDS = new Set('dash hyphen'.split(' '));
const DOTS = new Set(['dot', '.', 'point']);
const TOP_MAX_LETTERS = 3;
const PARTS_MAX = 12;
/** Words of a mailbox that follow a word such as "email" without "dot" between them. */
const NAMED_LOCAL_MAX_TOKENS = 10;
const LINKS = new Set(['is', 's', 'its', 'thats', 'address', 'at', ':', 'to', 'as']);

/** The addresses in `tokens`. `isExpected` = an address was asked for. */
export function findEmails(tokens: readonly Token[], isExpected: boolean): TokenRange[] {
  const found: TokenRange[] = [];
  tokens.forEach((token, index) => {
    if (token.key === '.' && isNamedDomain(tokens, index, isExpected)) {
      const from = joinedStart(tokens, index - 1);
      if (from >= (found.at(-1)?.to ?? 0)) found.push({ from, to: index + 2 });
    }
    if (token.key !== '@' && token.key !== 'at') return;
    const to = domainEnd(tokens, index + 1, token.key === '@');
    if (to === null) return;
    const from = localStart(tokens, index, token.key === '@', isExpected);
    if (from !== null && from >= (found.at(-1)?.to ?? 0)) found.push({ from, to });
  });
  return found;
}

/** "My email is annatgmail.com": where one is named, a domain is enough, because the "at" may have been misheard. */
function isNamedDomain(tokens: readonly Token[], dot: number, isExpected: boolean): boolean {
  const [host, sign, top] = [tokens[dot - 1], tokens[dot], tokens[dot + 1]];
  if (host?.kind !== 'word' || !sign?.isGlued || !top?.isGlued || !TOP_DOMAINS.has(top.key)) return false;
  return (
    tokens[dot - 2]?.key !== '@' &&
    tokens[dot - 2]?.key !== 'at' &&
    (isExpected || namedStart(tokens, dot - 1, false) !== null)
  );
}

/** The token behind the domain; null = there is none. */
function domainEnd(tokens: readonly Token[], from: number, isWritten: boolean): number | null {
  let end: number | null = null;
  let at = from;
  for (let parts = 0; parts < PARTS_MAX && tokens[at] !== undefined && tokens[at]?.kind !== 'sign'; parts++) {
    at = labelEnd(tokens, at);
    const last = tokens[at - 1];
    // "outlook.da" is how "outlook dot de" was understood.
    const isGluedTop = last?.kind === 'word' && last.isGlued && last.key.length <= TOP_MAX_LETTERS;
    const isTop = TOP_DOMAINS.has(last?.key ?? '') || isGluedTop || (isWritten && last?.kind === 'word');
    if (parts > 0 && isTop) end = at;
    const dot = tokens[at];
    if (dot === undefined || !DOTS.has(dot.key)) break;
    // A full stop ends the sentence unless something is glued to it.
    if (dot.kind === 'sign' && tokens[at + 1]?.isGlued !== true) break;
    at++;
  }
  return end;
}

/** A label may be several words: "my company", "example dash shop". */
function labelEnd(tokens: readonly Token[], from: number): number {
  let at = from + 1;
  for (let words = 0; words < 4; words++) {
    const [join, next] = [tokens[at], tokens[at + 1]];
    if (join === undefined) return at;
    const joins = (join.key === '-' && join.isGlued) || DOMAIN_WORDS.has(join.key);
    if (joins && next !== undefined && next.kind !== 'sign') at += 2;
    else if (join.kind !== 'sign' && DOTS.has(tokens[at + 1]?.key ?? '') && !DOTS.has(join.key)) at++;
    else return at;
  }
  return at;
}

/** The first token of the mailbox before the token `at`; null = there is none. */
function localStart(tokens: readonly Token[], at: number, isWritten: boolean, isExpected: boolean): number | null {
  const first = tokens[at - 1];
  if (first === undefined || (first.kind === 'sign' && !LOCAL_SIGNS.has(first.key))) return null;
  const from = joinedStart(tokens, at - 1);
  if (isWritten) return from;
  const named = namedStart(tokens, from, isExpected);
  if (named !== null) return named;
  return from === at - 1 && NO_NAMES.has(first.key) ? null : from;
}

/** Goes back over "anna dot lee", "j_smith", letters and figures that are spelt. */
function joinedStart(tokens: readonly Token[], last: number): number {
  let from = last;
  for (let parts = 0; parts < 4 * PARTS_MAX; parts++) {
    const [before, word] = [tokens[from - 1], tokens[from - 2]];
    const joins = before !== undefined && (LOCAL_WORDS.has(before.key) || isGluedSign(tokens, from - 1));
    if (joins && word !== undefined && word.kind !== 'sign') from -= 2;
    else if (before !== undefined && isNameBeforeDigits(before, tokens[from])) from--;
    else if (before !== undefined && (isSpelt(before) || tokens[from]?.isGlued === true) && before.kind !== 'sign')
      from--;
    else return from;
  }
  return from;
}

/** "smith four two": the digits belong to the name. */
function isNameBeforeDigits(name: Token, digits: Token | undefined): boolean {
  if (name.kind !== 'word' || digits === undefined || NO_NAMES.has(name.key) || name.key.length < 2) return false;
  return (digits.kind === 'figures' || UNIT_WORDS.has(digits.key)) && !UNIT_WORDS.has(name.key) && !LINKS.has(name.key);
}

function isGluedSign(tokens: readonly Token[], index: number): boolean {
  return LOCAL_SIGNS.has(tokens[index]?.key ?? '') && tokens[index + 1]?.isGlued === true;
}

function isSpelt({ kind, key }: Token): boolean {
  return kind === 'figures' || (kind === 'word' && ((key.length === 1 && key !== 'a') || UNIT_WORDS.has(key)));
}

/** "My email is anna lee at …": all words behind the one that names it; null = nothing names it. */
function namedStart(tokens: readonly Token[], from: number, isExpected: boolean): number | null {
  for (let index = from - 1; index >= Math.max(from - NAMED_LOCAL_MAX_TOKENS, 0); index--) {
    const token = tokens[index];
    if (token === undefined || ['.', '?', '!'].includes(token.key)) return null;
    if (!LINKS.has(token.key) && cueAt(tokens, index) !== 'email') continue;
    const isNamed = cueAt(tokens, index) === 'email' || cueAt(tokens, index - 1) === 'email';
    return isNamed || namesBefore(tokens, index) || isExpected ? index + 1 : null;
  }
  return isExpected ? Math.max(from - 2, 0) : null;
}

function namesBefore(tokens: readonly Token[], index: number): boolean {
  return [1, 2, 3].some((back) => cueAt(tokens, index - back) === 'email');
}
