/** What one side says, utterance by utterance, with what is private masked also where it spans several. */
import { type Analysis, analyse, digitSpans, type OpenNumber } from './analyse.ts';
import type { Cue } from './cues.ts';
import { type Finding, maskText, type Span } from './finding.ts';
import { NO_PATTERNS, type OwnPatterns } from './own-patterns.ts';
import { tokenise } from './tokens.ts';

/** A text that reads differently now. */
export interface MaskedText {
  /** The utterance's name. */
  readonly utterance: string;
  readonly text: string;
}

/** People pause this long between the groups of one number. */
export const PAUSE_MAX_MS = 20_000;
/** Texts without digits in the middle of a number. */
const INTERLUDES_MAX = 2;
/** Utterances that are joined; a number of 19 digits that is said one by one has as many. */
const JOINED_MAX = 20;
/** Utterances that a revision may still change. */
const KEPT_MAX = 60;
/**
 * An utterance that ends in so many digits is held, though nothing says what they are. Of card numbers that begin
 * behind other words, 4 would leave groups of three readable for some seconds; 2 holds three times as many ordinary
 * sentences (17 of 522 and not 6).
 */
const HELD_MIN_DIGITS = 3;
/** Utterances of nothing but digits are held when they have so many. */
const HELD_ALONE_MIN_DIGITS = 2;
/** What may be a number stands as this until it is certain. */
const HELD_LABEL = 'number';
const YEAR = /^(19|20)\d\d$/;
const JOINS_BEFORE = new Set(['at', 'dot', 'underscore', '@']);

interface Piece {
  readonly utterance: string;
  text: string;
  masked: string;
  /** It goes on with what the one before it began. */
  readonly isJoined: boolean;
  cue: Cue | null;
}

interface Arrival {
  readonly nowMs: number;
  /** Not a later text of a known utterance. */
  readonly isNew: boolean;
}

interface Held {
  readonly number: OpenNumber;
  /** So many digits that they are masked. */
  readonly isMasked: boolean;
  readonly atMs: number;
  interludes: number;
}

export class SpeakerText {
  readonly #patterns: OwnPatterns;
  readonly #holds: boolean;
  readonly #pieces: Piece[] = [];
  #held: Held | null = null;

  /** @param holds whether digits are masked that may be the beginning of a number, until it is certain */
  constructor(patterns: OwnPatterns, holds: boolean) {
    this.#patterns = patterns;
    this.#holds = holds;
  }

  /** Digits are held that may be the beginning of a number. */
  get isHolding(): boolean {
    return this.#held !== null;
  }

  /**
   * Takes an utterance, or a later text of one. `cue` = what is expected of the speaker. Returns how it reads, and what
   * reads differently now of the utterances before it.
   */
  put(utterance: string, text: string, cue: Cue | null, nowMs: number): MaskedText[] {
    const known = this.#pieces.findIndex((piece) => piece.utterance === utterance);
    const isNew = known === -1;
    const isJoined = isNew && this.#pieces.length > 0 && this.#joins(text, cue, nowMs);
    const released = isNew && !isJoined ? this.release() : [];
    if (isNew) this.#append({ utterance, text, masked: '', isJoined, cue });
    const index = isNew ? this.#pieces.length - 1 : known;
    const piece = this.#pieces[index];
    if (piece === undefined) return released;
    piece.text = text;
    const changed = this.#mask(this.#groupStart(index), { nowMs, isNew });
    const others = changed.filter((masked) => masked.utterance !== utterance);
    return [{ utterance, text: piece.masked }, ...released, ...others];
  }

  /**
   * How an earlier text of a known utterance reads in its place; one of an unknown utterance reads by itself. Where
   * anything is masked in the latest text, no digits of an earlier one are readable.
   */
  maskVersion(utterance: string, text: string): string {
    const index = this.#pieces.findIndex((piece) => piece.utterance === utterance);
    const piece = this.#pieces[index];
    if (piece === undefined) return this.#maskAlone(text);
    if (piece.text === text) return piece.masked;
    const from = this.#groupStart(index);
    const group = this.#groupFrom(from);
    const texts = group.map((other) => (other === piece ? text : other.text));
    const { findings } = analyse(texts, { cue: cueOf(group), patterns: this.#patterns });
    const spans = piece.masked === piece.text ? [] : digitSpans(text, 1);
    return masksOf(
      text,
      index - from,
      findings,
      spans.map((span) => ({ ...span, piece: index - from })),
    );
  }

  /** What is said so far of an utterance that goes on, after what it may belong to. */
  before(utterance: string, cue: Cue | null, nowMs: number): { texts: string[]; cue: Cue | null } {
    const isNew = this.#pieces.every((piece) => piece.utterance !== utterance);
    if (!isNew || !this.#isOpen(nowMs)) return { texts: [], cue };
    const group = this.#groupFrom(this.#groupStart(this.#pieces.length - 1));
    return { texts: group.map(({ text }) => text), cue: cue ?? cueOf(group) };
  }

  /**
   * How `text` reads, which repeats what was said last: as the utterances that it is made of, now and later. Where it
   * is made of none of them, it is masked whole as soon as anything of what was said last is.
   */
  echo(text: string, cue: Cue | null): () => string {
    const pieces = this.#piecesOf(text);
    if (pieces.length > 0) return () => (pieces.some(isMasked) ? pieces.map(({ masked }) => masked).join(' ') : text);
    const group = this.#groupFrom(this.#groupStart(this.#pieces.length - 1));
    const { findings } = analyse([text], { cue, patterns: this.#patterns });
    return () => (group.some(isMasked) ? `[${HELD_LABEL}]` : masksOf(text, 0, findings, []));
  }

  /** The last pieces that say `text` together; none = it is told in other words. */
  #piecesOf(text: string): readonly Piece[] {
    const wanted = withoutSpaces(text);
    for (let count = 1, said = ''; count <= Math.min(this.#pieces.length, JOINED_MAX); count++) {
      said = withoutSpaces(this.#pieces.at(-count)?.text ?? '') + said;
      if (said === wanted) return this.#pieces.slice(-count);
      if (said.length > wanted.length) return [];
    }
    return [];
  }

  /** Gives back what was held for too long. Returns what reads differently now. */
  settle(nowMs: number): MaskedText[] {
    if (this.#held === null || nowMs - this.#held.atMs <= PAUSE_MAX_MS) return [];
    return this.release();
  }

  /** Gives back all that is held. Returns what reads differently now. */
  release(): MaskedText[] {
    if (this.#held === null) return [];
    this.#held = null;
    return this.#mask(this.#groupStart(this.#pieces.length - 1), null);
  }

  #append(piece: Piece): void {
    this.#pieces.push(piece);
    if (this.#pieces.length > KEPT_MAX) this.#pieces.shift();
  }

  #joins(text: string, cue: Cue | null, nowMs: number): boolean {
    const group = this.#groupFrom(this.#groupStart(this.#pieces.length - 1));
    if (group.length >= JOINED_MAX) return false;
    const known = cueOf(group);
    if (cue !== null && known !== null && cue !== known) return false;
    if (this.#isOpen(nowMs) || cue === 'birth' || cue === 'email' || cue === 'iban') return true;
    const last = tokenise([group.at(-1)?.text ?? '']).at(-1)?.key ?? '';
    const first = tokenise([text])[0]?.key ?? '';
    return JOINS_BEFORE.has(last) || JOINS_BEFORE.has(first);
  }

  #isOpen(nowMs: number): boolean {
    return this.#held !== null && nowMs - this.#held.atMs <= PAUSE_MAX_MS;
  }

  /** Masks the group that begins at piece `from` anew. `arrival` = null: nothing came, so nothing is held. */
  #mask(from: number, arrival: Arrival | null): MaskedText[] {
    const group = this.#groupFrom(from);
    const isLast = from + group.length === this.#pieces.length;
    const texts = group.map(({ text }) => text);
    const analysis = analyse(texts, { cue: cueOf(group), patterns: this.#patterns });
    if (isLast && arrival !== null) this.#hold(analysis, texts.at(-1) ?? '', arrival);
    const held = isLast && this.#holds && this.#held?.isMasked ? this.#held.number.spans : [];
    const changed: MaskedText[] = [];
    group.forEach((piece, index) => {
      const masked = masksOf(piece.text, index, analysis.findings, held);
      if (masked === piece.masked) return;
      piece.masked = masked;
      changed.push({ utterance: piece.utterance, text: masked });
    });
    return changed;
  }

  #hold({ open, hasDigits }: Analysis, text: string, { nowMs, isNew }: Arrival): void {
    const before = this.#held;
    if (open !== null) {
      const isMasked = before?.isMasked === true || isHoldable(open, text);
      this.#held = { number: open, isMasked, atMs: isNew ? nowMs : (before?.atMs ?? nowMs), interludes: 0 };
    } else if (hasDigits || before === null || before.interludes >= INTERLUDES_MAX) this.#held = null;
    else if (isNew) before.interludes++;
  }

  #groupStart(index: number): number {
    let start = index;
    while (start > 0 && this.#pieces[start]?.isJoined) start--;
    return Math.max(start, 0);
  }

  #groupFrom(start: number): Piece[] {
    const next = this.#pieces.findIndex((piece, index) => index > start && !piece.isJoined);
    return this.#pieces.slice(start, next === -1 ? undefined : next);
  }

  #maskAlone(text: string): string {
    return masksOf(text, 0, analyse([text], { cue: null, patterns: this.#patterns }).findings, []);
  }
}

function isMasked({ text, masked }: Piece): boolean {
  return text !== masked;
}

function withoutSpaces(text: string): string {
  return text.replace(/\s+/g, '');
}

/** What the group's first utterance that had one was said to be. */
function cueOf(group: readonly Piece[]): Cue | null {
  return group.find(({ cue }) => cue !== null)?.cue ?? null;
}

/** Whether digits at the end of an utterance may be the first of a number that goes on. */
function isHoldable({ digits, cue, isIban }: OpenNumber, text: string): boolean {
  if (isIban) return true;
  if (cue === 'other') return false;
  if (cue !== null && cue !== 'email') return true;
  if (YEAR.test(digits)) return false;
  const isAlone = digits.length >= HELD_ALONE_MIN_DIGITS && !/[a-z]{3}/i.test(withoutNumberWords(text));
  return isAlone || digits.length >= HELD_MIN_DIGITS;
}

function withoutNumberWords(text: string): string {
  const { open } = analyse([text], { cue: null, patterns: NO_PATTERNS });
  const [span] = open?.spans ?? [];
  return span === undefined ? text : text.slice(0, span.from);
}

function masksOf(text: string, piece: number, findings: readonly Finding[], held: readonly Span[]): string {
  const masks = findings.flatMap(({ label, spans }) =>
    spans.filter((span) => span.piece === piece).map(({ from, to }) => ({ from, to, label })),
  );
  for (const { piece: at, from, to } of held) {
    const isFree = masks.every((mask) => mask.to <= from || to <= mask.from);
    if (at === piece && isFree) masks.push({ from, to, label: HELD_LABEL });
  }
  return maskText(text, masks);
}
