/** What a caller's words mean, as the answer to a question. */
import { chooseSpoken } from './choices.ts';
import type { Question, Understood } from './question.ts';

/** The value that `text`, the words of a caller as a recogniser wrote them, gives; null = it is no answer. */
export function understand(text: string, question: Question): Understood | null {
  const said = text.trim();
  if (question.kind === 'text') return said === '' ? null : { value: said };
  if (question.kind === 'yesNo') {
    if (/^(yes|yeah)\b/i.test(said)) return { value: true };
    return /^no\b/i.test(said) ? { value: false } : null;
  }
  if (question.kind === 'choice') {
    const choices = Object.entries(question.choices ?? {}).map(([name, say]) => [name, { say }] as const);
    const name = chooseSpoken(said, Object.fromEntries(choices), question.language);
    return name === null ? null : { value: name };
  }
  const digits = said.replace(/\D/g, '');
  if (digits === '') return null;
  return { value: question.kind === 'number' ? Number(digits) : digits };
}
