/** What the recogniser is told of a question, so that it understands the answer better. */
import type { ExpectedAnswer } from '../../transcription/expected-answer.ts';
import { chooseSpoken, nameWords, type SpokenChoice } from './choices.ts';
import { findWords } from './languages/find-words.ts';
import type { Phrases } from './languages/language-words.ts';
import { perLanguage } from './per-language.ts';
import type { Question } from './question.ts';
import { understand } from './understand.ts';

/** Not a sign or a figure. */
const SPOKEN = /^[\p{L}'’-]+(?: [\p{L}'’-]+)*$/u;
const DIGITS_MAX = 64;
/** Of a number, beside its usual one: the others are hardly said. */
const NAMES_MAX = 2;
const DAYS_MAX = 31;
const MINUTES_MAX = 59;

/** What kinds of questions are answered with; a `text` can be anything. */
type ListedKind = Exclude<Question['kind'], 'text' | 'choice'> | 'menu';

const listsOf = perLanguage((words): Readonly<Record<ListedKind, readonly string[]>> => {
  const { numbers, answers, dates, times, money, spoken } = words;
  const please = phrases(answers.please);
  const digits = [...spoken.digits, ...commonest(numbers.smalls), ...phrases(numbers.amongDigits[0]?.[0] ?? '')];
  const cardinals = (count: number) =>
    Array.from({ length: count }, (_, value) => spoken.cardinal(value).split(' ')).flat();
  const ordinals = numbers.ordinals.filter(([, value]) => value <= DAYS_MAX).flatMap(([list]) => phrases(list));
  const amounts = [...cardinals(100), ...phrases(numbers.hundred), ...commonest(numbers.scales), ...please];
  const lists = (all: Phrases<unknown>) => all.flatMap(([list]) => phrases(list));
  return {
    menu: [...digits, ...phrases(answers.option), ...please],
    yesNo: [answers.yes, answers.no, answers.unsure, answers.please].flatMap(phrases),
    digits: [...digits, ...cardinals(100), ...commonest(numbers.repeats)],
    phone: [...digits, ...commonest(numbers.repeats), ...phrases(numbers.plus), ...phrases(numbers.hundred)],
    number: [...amounts, ...[numbers.and, numbers.point, numbers.andHalf].flatMap(phrases)],
    date: [
      ...[...dates.months, ...dates.weekdays].map((names) => phrases(names)[0] ?? ''),
      ...[dates.ahead, dates.next, dates.this, dates.links, dates.a, answers.please].flatMap(phrases),
      ...lists(dates.days),
      ...lists(dates.units),
      ...ordinals.flatMap((ordinal) => ordinal.split(' ')),
      ...cardinals(DAYS_MAX + 1),
    ],
    time: [
      ...[times.noon, times.midnight, times.morning, times.afternoon, times.evening, times.night].flatMap(phrases),
      ...[times.at, times.hour, times.half, times.quarter, times.past, times.to, times.ahead].flatMap(phrases),
      ...[times.zero, answers.please].flatMap(phrases),
      ...lists(times.units),
      ...cardinals(MINUTES_MAX + 1),
    ],
    amount: [...amounts, ...phrases(numbers.and), ...lists(money.currencies), ...phrases(money.parts)],
  };
});

/** What answers to a question are made of; null = of anything. */
export function expectedAnswer(question: Question): ExpectedAnswer | null {
  const { kind, language, choices = {} } = question;
  if (kind === 'text') return null;
  const words = findWords(language);
  // A part of a turn can have a part of the digits.
  const part =
    kind === 'digits' || kind === 'phone'
      ? ({ ...question, kind: 'digits', min: 1, max: DIGITS_MAX } as const)
      : question;
  const meaningOf = (text: string) => meaning(understand(text, part)?.value ?? null);
  if (kind === 'choice') {
    const named = Object.entries(choices).map(([name, say]) => [name, { say }] as const);
    return { words: usableWords([...choiceWords(Object.fromEntries(named)), ...listsOf(words).menu]), meaningOf };
  }
  return { words: usableWords(listsOf(words)[kind]), meaningOf };
}

/** The same of the verb `menu`. */
export function expectedChoice(choices: Readonly<Record<string, SpokenChoice>>, language: string): ExpectedAnswer {
  return {
    words: usableWords([...choiceWords(choices), ...listsOf(findWords(language)).menu]),
    meaningOf: (text) => chooseSpoken(text, choices, language),
  };
}

function choiceWords(choices: Readonly<Record<string, SpokenChoice>>): string[] {
  return Object.entries(choices).flatMap(([name, { say = [] }]) => [nameWords(name).toLowerCase(), ...say]);
}

function meaning(value: unknown): string | null {
  return value === null ? null : String(value);
}

function phrases(list: string): string[] {
  return list.split(',').map((phrase) => phrase.trim());
}

/** The first names of each. */
function commonest(lists: Phrases<number>): string[] {
  return lists.flatMap(([list]) => phrases(list).slice(0, NAMES_MAX));
}

/** Each once, those that are spoken as they are written. */
function usableWords(words: readonly string[]): readonly string[] {
  return [...new Set(words.filter((word) => SPOKEN.test(word)))];
}
