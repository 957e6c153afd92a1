/** Lines of phonemes in stretches that can be synthesized by themselves. */
import type { ReadWord } from './line-reader.ts';

/** A stretch of a line that can be synthesized by itself. */
export interface Clause {
  /** The words that it was made of. */
  readonly text: string;
  /** Symbols of the voice's `vocab.json`; those of all clauses joined are the phonemes of the line. */
  readonly phonemes: string;
}

const CLAUSE_END = /[,;:—.!?…][”")]* $/;

/** Before these words speakers take a breath; before those of the second list when they need one. */
const BREATHING_PLACES = [
  setOf('and but or nor because which who when where while if unless until so then although before after since'),
  setOf('that to for with at on in of from by as than into about between through over under without'),
];

/** The words in clauses of at most `maxPhonemes`; those of all clauses joined have no space at their ends. */
export function cutClauses(words: readonly ReadWord[], maxPhonemes: number): Clause[] {
  const clauses: Clause[][] = [];
  let isOpen = true;
  for (const piece of trimEnds(words).flatMap((clause) => cutLong(clause, maxPhonemes))) {
    const last = clauses.at(-1);
    const isJoined = piece.phonemes === '' || (isOpen && fits(last ?? [], piece, maxPhonemes));
    if (last !== undefined && isJoined) last.push(piece);
    else clauses.push([...(last !== undefined && isOpen ? takeBack(last, piece, maxPhonemes) : []), piece]);
    if (piece.phonemes !== '') isOpen = !CLAUSE_END.test(piece.phonemes);
  }
  return clauses.map(joinPieces).filter(({ phonemes }) => phonemes !== '');
}

/**
 * A clause is too long to go on with `next`: takes off it, and returns, the words that are better said with what
 * follows. It keeps more than half of its length.
 */
function takeBack(clause: Clause[], next: Clause, maxPhonemes: number): Clause[] {
  for (const places of BREATHING_PLACES) {
    if (places.has(wordOf(next))) return [];
    for (let at = clause.length - 1; at > 0 && lengthOf(clause.slice(0, at)) >= maxPhonemes / 2; at--) {
      const isPlace = places.has(wordOf(clause[at]));
      if (isPlace && fits(clause.slice(at), next, maxPhonemes)) return clause.splice(at);
    }
  }
  return [];
}

function setOf(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

function wordOf(piece: Clause | undefined): string {
  return (piece?.text ?? '').trim().toLowerCase();
}

function lengthOf(pieces: readonly Clause[]): number {
  return pieces.reduce((sum, { phonemes }) => sum + phonemes.length, 0);
}

function fits(before: readonly Clause[], behind: Clause, maxPhonemes: number): boolean {
  return lengthOf(before) + behind.phonemes.length <= maxPhonemes;
}

function joinPieces(pieces: readonly Clause[]): Clause {
  return {
    text: pieces.map(({ text }) => text).join(''),
    phonemes: pieces.map(({ phonemes }) => phonemes).join(''),
  };
}

/** Words with the space behind them; without phonemes outside of the first and the last that has any. */
function trimEnds(words: readonly ReadWord[]): Clause[] {
  const isSaid = ({ phonemes }: ReadWord): boolean => phonemes.trim() !== '';
  const [first, last] = [words.findIndex(isSaid), words.findLastIndex(isSaid)];
  return words.map(({ text, phonemes, space }, at) => {
    const gap = space ? ' ' : '';
    const said = at < first || at > last || last < 0 ? '' : at === last ? phonemes.trimEnd() : phonemes + gap;
    return { text: text + gap, phonemes: at === first ? said.trimStart() : said };
  });
}

/** A word that is too long by itself is cut anywhere. */
function cutLong({ text, phonemes }: Clause, maxPhonemes: number): Clause[] {
  if (phonemes.length <= maxPhonemes) return [{ text, phonemes }];
  const pieces = phonemes.match(new RegExp(`[^]{1,${maxPhonemes}}`, 'g')) ?? [];
  return pieces.map((piece, at) => ({ text: at === 0 ? text : '', phonemes: piece }));
}
