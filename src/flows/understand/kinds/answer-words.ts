/** Words of answers that mean nothing by themselves, and those that take back what was said before. */
import { fold } from '../fold.ts';
import type { LanguageWords } from '../languages/language-words.ts';
import { perLanguage } from '../per-language.ts';
import { type PhraseTable, phraseSet } from '../phrase-table.ts';

const fillersOf = perLanguage(({ answers }) => phraseSet(answers.fillers));
const correctionsOf = perLanguage(({ answers }) => phraseSet(answers.corrections));

const waitingOf = perLanguage(({ answers }) => phraseSet(answers.waiting));

const WORD = /[\p{L}\p{N}]+/gu;

/** `items` without the words around an answer: "I would like", "please". */
export function withoutFillers<Item extends { readonly text: string }>(
  items: readonly Item[],
  words: LanguageWords,
): Item[] {
  return withoutPhrases(items, [fillersOf(words)]);
}

/** `items` without the phrases of `tables`. */
export function withoutPhrases<Item extends { readonly text: string }>(
  items: readonly Item[],
  tables: readonly PhraseTable<true>[],
): Item[] {
  const left: Item[] = [];
  for (let at = 0; at < items.length; ) {
    const length = Math.max(...tables.map((table) => table.find(items, at)?.length ?? 0));
    const item = items[at];
    if (length === 0 && item !== undefined) left.push(item);
    at += Math.max(length, 1);
  }
  return left;
}

/** `text`, folded, without what only asks for time: the number of "one moment" is none. */
export function withoutWaiting(text: string, words: LanguageWords): string {
  const folded = fold(text);
  const tokens = [...folded.matchAll(WORD)].map(({ 0: word, index }) => ({
    text: word,
    at: index,
    end: index + word.length,
  }));
  let [left, from] = ['', 0];
  for (let at = 0; at < tokens.length; ) {
    const length = waitingOf(words).find(tokens, at)?.length ?? 0;
    if (length > 0) {
      left += `${folded.slice(from, tokens[at]?.at)} `;
      from = tokens[at + length - 1]?.end ?? folded.length;
    }
    at += Math.max(length, 1);
  }
  return left + folded.slice(from);
}

/** What comes behind the last "no wait" or the like, in place of what was said before; null = nothing was. */
export function afterCorrection(text: string, words: LanguageWords): string | null {
  const folded = fold(text);
  const tokens = [...folded.matchAll(WORD)].map(({ 0: word, index }) => ({ text: word, end: index + word.length }));
  let after: number | null = null;
  for (let at = 0; at < tokens.length; ) {
    const length = correctionsOf(words).find(tokens, at)?.length ?? 0;
    // At the very beginning nothing is there to be taken back.
    if (length > 0 && (at > 0 || length > 1)) after = tokens[at + length - 1]?.end ?? null;
    at += Math.max(length, 1);
  }
  return after === null ? null : folded.slice(after);
}
