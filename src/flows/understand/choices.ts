/** Which choice of a list a caller means. */
import { ANSWER_MAX_CHARS, foldWords } from './fold.ts';
import { afterCorrection, withoutFillers, withoutPhrases, withoutWaiting } from './kinds/answer-words.ts';
import { itemReaderOf } from './kinds/digits.ts';
import { findWords } from './languages/find-words.ts';
import type { LanguageWords } from './languages/language-words.ts';
import { perLanguage } from './per-language.ts';
import { phraseSet } from './phrase-table.ts';
import { likeness, stem } from './sounds-like.ts';

/** A choice, as the verb `menu` has it: the key and the phrases that choose it, beside its name. */
export interface SpokenChoice {
  readonly key?: string | undefined;
  readonly say?: readonly string[] | undefined;
}

interface Phrase {
  readonly choice: string;
  readonly words: readonly string[];
  readonly stems: readonly string[];
}

/** A phrase in what was said. */
interface Hit {
  readonly choice: string;
  readonly from: number;
  readonly to: number;
  readonly isNegated: boolean;
}

const tablesOf = perLanguage(({ answers }) => ({
  none: phraseSet(answers.noneOfThese),
  not: phraseSet(answers.not),
  but: phraseSet(answers.but),
  option: phraseSet(answers.option),
  theOne: phraseSet(answers.theOne),
  last: phraseSet(answers.last),
}));

/** How alike a word must be that was misheard, and how much less the other choices. */
const LIKENESS_MIN = 0.78;
const LIKENESS_AHEAD = 0.12;
/** Shorter words are too much like others. */
const MISHEARD_MIN_CHARS = 4;
/** So many words may stand between "not" and what is not wanted. */
const NEGATION_WORDS = 2;
const WORDS_MAX = 60;
/** In longer answers, something is always like something. */
const MISHEARD_WORDS_MAX = 4;

/** The name of the one choice that `text` means in `language`; null = none, or it could be two. */
export function chooseSpoken(
  text: string,
  choices: Readonly<Record<string, SpokenChoice>>,
  language: string,
): string | null {
  if (text.length > ANSWER_MAX_CHARS) return null;
  const words = findWords(language);
  const answer = withoutWaiting(text, words);
  const corrected = afterCorrection(answer, words);
  const last = corrected === null ? null : chooseOnce(corrected, choices, words);
  return last ?? chooseOnce(answer, choices, words);
}

function chooseOnce(
  text: string,
  choices: Readonly<Record<string, SpokenChoice>>,
  words: LanguageWords,
): string | null {
  const said = foldWords(text).slice(0, WORDS_MAX);
  const phrases = phrasesOf(choices, words);
  const tokens = said.map((word) => ({ text: word }));
  const whole = phrases.filter((phrase) => phrase.words.join(' ') === said.join(' '));
  if (whole.length > 0) return onlyOne(whole.map(({ choice }) => choice));
  const hits = findHits(said, phrases, words);
  if (hits.length > 0) return onlyOne(hits.filter(({ isNegated }) => !isNegated).map(({ choice }) => choice));
  const { none, not } = tablesOf(words);
  if (tokens.some((_, at) => none.find(tokens, at) !== null || not.find(tokens, at) !== null)) return null;
  return byNumber(text, choices, words) ?? byLikeness(said, phrases, words);
}

/** The name of a choice as it is said: `openingHours` → `opening Hours`. */
export function nameWords(choice: string): string {
  return choice.replace(/(?<=[a-z])(?=[A-Z])|[_-]/g, ' ');
}

function phrasesOf(choices: Readonly<Record<string, SpokenChoice>>, words: LanguageWords): Phrase[] {
  return Object.entries(choices).flatMap(([choice, { say = [] }]) => {
    return [nameWords(choice), ...say].flatMap((phrase) => {
      const phraseWords = foldWords(phrase);
      return phraseWords.length === 0
        ? []
        : { choice, words: phraseWords, stems: phraseWords.map((word) => stem(word, words)) };
    });
  });
}

function onlyOne(found: readonly string[]): string | null {
  const [first] = found;
  return first !== undefined && found.every((choice) => choice === first) ? first : null;
}

/** All phrases that are said, but those inside of a longer one: "sales" in "after sales". */
function findHits(said: readonly string[], phrases: readonly Phrase[], words: LanguageWords): Hit[] {
  const stems = said.map((word) => stem(word, words));
  const hits = phrases.flatMap((phrase) => {
    const found: Hit[] = [];
    for (let from = 0; from + phrase.words.length <= said.length; from++) {
      const isSaid = phrase.words.every(
        (word, index) => said[from + index] === word || stems[from + index] === phrase.stems[index],
      );
      const to = from + phrase.words.length;
      if (isSaid) found.push({ choice: phrase.choice, from, to, isNegated: isNegated(said, from, words) });
    }
    return found;
  });
  return hits.filter((hit) => !hits.some((other) => isInside(hit, other)));
}

function isInside(hit: Hit, other: Hit): boolean {
  return other.from <= hit.from && other.to >= hit.to && other.to - other.from > hit.to - hit.from;
}

/** Whether "not" stands before `at`, with nothing like "but" in between. */
function isNegated(said: readonly string[], at: number, words: LanguageWords): boolean {
  const { not, but } = tablesOf(words);
  const tokens = said.map((word) => ({ text: word }));
  for (let before = at - 1; before >= Math.max(0, at - 1 - NEGATION_WORDS); before--) {
    if (but.find(tokens, before) !== null) return false;
    if (not.find(tokens, before) !== null) return true;
  }
  return false;
}

/** "Two", "option two", "the second one", "the last one": a key, or where there are none the place in the list. */
function byNumber(text: string, choices: Readonly<Record<string, SpokenChoice>>, words: LanguageWords): string | null {
  const entries = Object.entries(choices);
  const { option, theOne, last } = tablesOf(words);
  const items = itemReaderOf(words).read(text);
  const rest = withoutPhrases(withoutFillers(items, words), [last, option, theOne]);
  if (rest.some(({ type }) => type !== 'number')) return null;
  const isLast = items.some((_, at) => last.find(items, at) !== null);
  const numbers = items.filter((item) => item.type === 'number');
  // The "one" of "the first one" is no number.
  const isPlace = isLast || numbers.some(({ isOrdinal }) => isOrdinal);
  const [number, other] = isPlace ? numbers.filter((item) => theOne.find([item], 0) === null) : numbers;
  if (isLast && number === undefined) return entries.at(-1)?.[0] ?? null;
  if (number === undefined || other !== undefined) return null;
  const hasKeys = entries.some(([, { key }]) => key !== undefined);
  if (hasKeys) return entries.find(([, { key }]) => key === number.digits)?.[0] ?? null;
  return entries[number.value - 1]?.[0] ?? null;
}

/** The choice that sounds most like a stretch of what was said, if no other comes near. */
function byLikeness(said: readonly string[], phrases: readonly Phrase[], words: LanguageWords): string | null {
  const left = withoutFillers(
    said.map((text) => ({ text })),
    words,
  ).map(({ text }) => text);
  if (left.length > MISHEARD_WORDS_MAX) return null;
  const best = new Map<string, number>();
  for (const { choice, words: phraseWords } of phrases) {
    const phrase = phraseWords.join('');
    if (phrase.length < MISHEARD_MIN_CHARS) continue;
    const score = bestStretch(left, phrase, phraseWords.length, words);
    best.set(choice, Math.max(best.get(choice) ?? 0, score));
  }
  const [first, second] = [...best.entries()].sort(([, a], [, b]) => b - a);
  if (first === undefined || first[1] < LIKENESS_MIN) return null;
  return first[1] - (second?.[1] ?? 0) >= LIKENESS_AHEAD ? first[0] : null;
}

/** What is heard as one word can be two, and the other way round. */
function bestStretch(said: readonly string[], phrase: string, length: number, words: LanguageWords): number {
  let best = 0;
  for (let size = Math.max(1, length - 1); size <= length + 1; size++) {
    for (let from = 0; from + size <= said.length; from++) {
      const stretch = said.slice(from, from + size).join('');
      // A short word inside of a long answer is found too easily.
      const share = size / said.length;
      const score = likeness(stretch, phrase, words) * (share >= 0.3 ? 1 : 0.9);
      best = Math.max(best, score);
    }
  }
  return best;
}
