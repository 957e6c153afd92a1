import { splitWords } from './words.ts';

/** Words after which an English phrase goes on: articles, possessives, conjunctions, prepositions, forms of "to be". */
const OPEN_WORDS = new Set(
  (
    'a an the my your his our their its and or but because so if when while that which who whose than ' +
    'of to for from with at by in into on onto about between is are was were am be im youre hes were theyre ' +
    'um uh er erm'
  ).split(' '),
);

/**
 * Whether words hold by grammar: nobody ends with "my number is" or "and". Known for English; false for others.
 * @param language BCP 47
 */
export function holdsByGrammar(text: string, language: string): boolean {
  if (!/^en\b/i.test(language)) return false;
  const last = splitWords(text).at(-1);
  return last !== undefined && OPEN_WORDS.has(last.key);
}
