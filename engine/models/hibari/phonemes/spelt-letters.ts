/** Letters that are written apart because they are to be spelt, as our normaliser leaves them. */

const SPELT_CAPITALS = /(?<![\p{L}\p{N}\p{M}.'’])[A-Z](?: [A-Z])+(?![\p{L}\p{N}\p{M}]|\.\p{L}|['’](?!s(?!\p{L})))/gu;
const HALF_OF_DAY = /(?<=[\p{L}\p{N}] )([ap]) m(?![\p{L}\p{N}\p{M}'’])/gu;

/**
 * Writes `S Q L` as `S.Q.L` and `nine a m` as `nine a.m`: with stops between them they are read as one word, stressed
 * on its last letter, and an A among them is not the article.
 */
export function joinSpeltLetters(text: string): string {
  return text.replace(SPELT_CAPITALS, (letters) => letters.replaceAll(' ', '.')).replace(HALF_OF_DAY, '$1.m');
}
