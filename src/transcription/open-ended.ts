import { splitWords } from './words.ts';

/**
 * How the last words of a phrase hold it: `surely`: nobody ends with them; `perhaps`: few do ("the one I came with").
 */
export type GrammarHold = 'surely' | 'perhaps';

const wordsOf = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** Articles, possessives, conjunctions, prepositions, contractions, and sounds of somebody who thinks. */
const NEVER_LAST = wordsOf(
  'a an the my your our their and or but because if of from than into onto between whose ' +
    'im ive ill youre youve youll hes shes its theyre theres thats whats um uh er erm',
);
/** They also end phrases: "log in", "I think so", "what is it for". */
const SELDOM_LAST = wordsOf('his her so that while when which who in on at to for with by about');
const FORMS_OF_BE = wordsOf('is are was were am be');
/** A form of "to be" behind them is a whole answer: "yes, it is". */
const SUBJECTS = wordsOf('i you he she it we they this that there here what where who how which');

/**
 * Whether the last words hold by grammar: nobody ends with "my number is" or "and". Known for English; null for others
 * and for all other words.
 * @param language BCP 47
 */
export function grammarHold(text: string, language: string): GrammarHold | null {
  if (!/^en\b/i.test(language)) return null;
  const keys = splitWords(text).map(({ key }) => key);
  const last = keys.at(-1) ?? '';
  const before = keys.at(-2) ?? '';
  if (NEVER_LAST.has(last)) return 'surely';
  if (FORMS_OF_BE.has(last)) return before === '' || SUBJECTS.has(before) ? 'perhaps' : 'surely';
  return SELDOM_LAST.has(last) ? 'perhaps' : null;
}
