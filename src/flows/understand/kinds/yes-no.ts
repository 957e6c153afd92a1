import { foldWords } from '../fold.ts';
import type { LanguageWords } from '../languages/language-words.ts';
import { perLanguage } from '../per-language.ts';
import { PhraseTable, phraseSet } from '../phrase-table.ts';
import { afterCorrection, withoutFillers } from './answer-words.ts';

type Answer = 'yes' | 'no' | 'unsure';

const answersOf = perLanguage(
  ({ answers }) =>
    new PhraseTable<Answer>([
      [answers.unsure, 'unsure'],
      [answers.yes, 'yes'],
      [answers.no, 'no'],
    ]),
);
const plainOf = perLanguage(({ answers }) => phraseSet(answers.plain));
const notOf = perLanguage(({ answers }) => phraseSet(answers.not));

/** Longer sentences are answers only by how they begin. */
const WORDS_MAX = 12;

/**
 * Whether `text` says yes or no; null = neither, or both. What comes behind "no wait" replaces the rest; where nothing
 * does, the answer is taken back.
 */
export function readYesNo(text: string, words: LanguageWords): boolean | null {
  const corrected = afterCorrection(text, words);
  const tokens = foldWords(text).map((word) => ({ text: word }));
  const whole = answersOf(words).find(tokens, 0);
  if (corrected === null || whole?.length === tokens.length) return readPlain(text, words);
  return foldWords(corrected).length === 0 ? null : readPlain(corrected, words);
}

function readPlain(text: string, words: LanguageWords): boolean | null {
  const tokens = foldWords(text).map((word) => ({ text: word }));
  const { answers, others } = findAnswers(tokens, words);
  const [first] = answers;
  if (first === undefined || answers.some(({ answer }) => answer === 'unsure')) return null;
  const kinds = new Set(answers.map(({ answer }) => answer));
  if (kinds.size === 1 && (others === 0 || (first.isFirst && first.isPlain))) return first.answer === 'yes';
  // "Yeah, no" is a no, "no, yeah" a yes; with more than that it is not clear.
  const isPair = answers.length === 2 && others === 0 && answers.every(({ length }) => length === 1);
  if (kinds.size === 2 && isPair && tokens.length === 2) return answers[1]?.answer === 'yes';
  return null;
}

interface FoundAnswer {
  readonly answer: Answer;
  readonly length: number;
  /** Whether only fillers stand before it. */
  readonly isFirst: boolean;
  /** Whether other words may follow. */
  readonly isPlain: boolean;
}

/** The answers in a text, and how many other words it has. "Not" makes the contrary of the answer behind it. */
function findAnswers(
  tokens: readonly { readonly text: string }[],
  words: LanguageWords,
): { readonly answers: readonly FoundAnswer[]; readonly others: number } {
  const answers: FoundAnswer[] = [];
  const others: { text: string }[] = [];
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at];
    if (token === undefined) break;
    const found = answersOf(words).find(tokens, at);
    const not = notOf(words).find(tokens, at);
    const behind = not === null ? null : answersOf(words).find(tokens, at + not.length);
    const isFirst = withoutFillers(others, words).length === 0;
    const isPlain = plainOf(words).find(tokens, at) !== null;
    if (not !== null && (found === null || found.length <= not.length)) {
      answers.push({ answer: behind?.value === 'unsure' ? 'unsure' : 'no', length: not.length, isFirst, isPlain });
      at += not.length + (behind?.length ?? 0);
    } else if (found !== null && found.length > 1 && notOf(words).find(tokens, at + found.length) !== null) {
      // "Of course not", "it is not": what follows says it.
      at += found.length;
    } else if (found !== null) {
      answers.push({ answer: found.value, length: found.length, isFirst, isPlain });
      at += found.length;
      // "It is not correct": the last word of the refusal takes what follows with it.
      const isNot = found.value === 'no' && found.length > 1 && notOf(words).find(tokens, at - 1) !== null;
      at += isNot ? (answersOf(words).find(tokens, at)?.length ?? 0) : 0;
    } else {
      others.push(token);
      at++;
    }
  }
  const left = withoutFillers(others, words).length;
  return {
    answers: tokens.length > WORDS_MAX && left > 0 ? answers.filter(({ isFirst }) => isFirst) : answers,
    others: left,
  };
}
