import type { FlowValue } from '../../../src/flows/file/conditions.ts';
import type { Question } from '../../../src/flows/understand/question.ts';
import { understand } from '../../../src/flows/understand/understand.ts';

/** A Monday in Berlin, and a Sunday evening in Los Angeles. */
export const MONDAY = new Date('2026-11-23T06:00:00Z');

/** What `text` gives as the answer to a question of this kind; null = no answer. */
export function answer(
  kind: Question['kind'],
  text: string,
  question: Partial<Omit<Question, 'kind'>> = {},
): FlowValue {
  const asked = { kind, language: 'en-US', now: MONDAY, timeZone: 'Europe/Berlin', ...question };
  return understand(text, asked)?.value ?? null;
}
