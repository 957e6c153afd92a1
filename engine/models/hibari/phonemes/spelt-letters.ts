/** Letters that are written apart because they are to be spelt, as our normaliser leaves them. */
import type { Piece } from './tokenizer.ts';

const CAPITALS = String.raw`(?<![\p{L}\p{N}\p{M}.'’])[A-Z](?: [A-Z])+(?![\p{L}\p{N}\p{M}]|\.\p{L}|['’](?!s(?!\p{L})))`;
const HALF_OF_DAY = String.raw`(?<=[\p{L}\p{N}] )[ap] m(?![\p{L}\p{N}\p{M}'’])`;
const SPELT = new RegExp(`${CAPITALS}|${HALF_OF_DAY}`, 'gu');

/**
 * The tokens of a text, with `S Q L` as one, `S.Q.L`, and `a m` behind a time as `a.m`: with stops between them letters
 * are read as one word, stressed on its last letter, and an A among them is not the article.
 * @param split cuts what is between them
 */
export function splitAtSpeltLetters(text: string, split: (stretch: string) => readonly Piece[]): Piece[] {
  const pieces: Piece[] = [];
  let done = 0;
  for (const { 0: letters, index } of text.matchAll(SPELT)) {
    pieces.push(...split(text.slice(done, index)));
    done = index + letters.length;
    pieces.push({ text: letters.replaceAll(' ', '.'), space: /^\s/.test(text.slice(done, done + 1)) });
  }
  return [...pieces, ...split(text.slice(done))];
}
