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

/** The words in clauses of at most `maxPhonemes`; those of all clauses joined have no space at their ends. */
export function cutClauses(words: readonly ReadWord[], maxPhonemes: number): Clause[] {
  const clauses: Clause[] = [];
  let isOpen = true;
  for (const piece of trimEnds(words).flatMap((clause) => cutLong(clause, maxPhonemes))) {
    const last = clauses.at(-1);
    const isJoined = piece.phonemes === '' || (isOpen && fits(last, piece, maxPhonemes));
    if (last !== undefined && isJoined) {
      clauses[clauses.length - 1] = { text: last.text + piece.text, phonemes: last.phonemes + piece.phonemes };
    } else clauses.push(piece);
    if (piece.phonemes !== '') isOpen = !CLAUSE_END.test(piece.phonemes);
  }
  return clauses.filter(({ phonemes }) => phonemes !== '');
}

function fits(before: Clause | undefined, behind: Clause, maxPhonemes: number): boolean {
  return (before?.phonemes.length ?? 0) + behind.phonemes.length <= maxPhonemes;
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
