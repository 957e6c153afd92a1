/** What menu, gather and confirm share: tries, and what is said between them. */
import { z } from 'zod';
import { ANSWER_SURE } from '../../transcription/expected-answer.ts';
import type { FlowValue } from '../file/conditions.ts';
import { type FlowPrompt, promptSchema } from '../file/prompts.ts';
import { durationMs, targetSchema } from './schemas.ts';
import { NoAnswer, type StepExit, type StepTools } from './step.ts';
import { exit, type FlowExit, type PlacedWords, wordsFor } from './verb.ts';

/** What happens when a question gets no answer, or none that fits: the prompt of each further try, then `next`. */
const fallbackSchema = z.strictObject({
  prompts: z.array(promptSchema).max(10).optional().describe('Of the first further try, the second, …'),
  next: targetSchema.optional().describe('Where the flow goes on after the last try'),
});

/** The fields that all questions have. */
export const QUESTION_SHAPE = {
  prompt: promptSchema,
  retries: z.number().int().min(0).max(10).optional().describe('Further tries, 2 unless given'),
  timeoutMs: durationMs(60_000).optional().describe('How long the caller may be silent after the prompt: 5000'),
  noInput: fallbackSchema.optional(),
  noMatch: fallbackSchema.optional(),
};

const shape = z.object(QUESTION_SHAPE);

/** What a question says of itself; `private` is what `gather` may be. */
export interface QuestionFields extends z.infer<typeof shape> {
  readonly private?: boolean | undefined;
}

/** Where a question leads that gets no answer. */
export function fallbackExits({ noInput, noMatch }: QuestionFields): FlowExit[] {
  return [
    ...exit('noInput', noInput?.next, ['noInput', 'next']),
    ...exit('noMatch', noMatch?.next, ['noMatch', 'next']),
  ];
}

/** What a question says. */
export function questionPrompts({ prompt, noInput, noMatch }: QuestionFields): PlacedWords[] {
  return [['prompt', prompt], ...wordsFor('noInput', noInput?.prompts), ...wordsFor('noMatch', noMatch?.prompts)];
}

/** Whether it says not itself where the flow goes on without an answer. */
export function leavesUnanswered({ noInput, noMatch }: QuestionFields): boolean {
  return noInput?.next === undefined || noMatch?.next === undefined;
}

/** Where a menu or a confirm goes on when its tries are over. */
export function nextWithout(_fields: QuestionFields, error: unknown, next: string | null): string | null {
  return error instanceof NoAnswer ? next : null;
}

/** What came of asking once. `understood` null = the answer fits nothing. */
export type Attempt<Answer> =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'keys' | 'speech';
      readonly text: string;
      /** The caller had not heard the question. */
      readonly isAhead: boolean;
      readonly understood: { readonly value: FlowValue; readonly answer: Answer } | null;
    };

/** What became of a question: its answer, or where the flow goes on without one. */
export type Outcome<Answer> = { readonly answer: Answer } | { readonly exit: StepExit };

const RETRIES = 2;
/** How long the caller may be silent after the question. */
const TIMEOUT_MS = 5000;

/** Whether what was heard is sure enough to be taken for an answer: what is not is asked again. */
export function isSure({ confidence }: { readonly confidence: number | null }): boolean {
  return confidence === null || confidence >= ANSWER_SURE;
}

/** How long the caller of a question may be silent. */
export function timeoutOf({ timeoutMs = TIMEOUT_MS }: QuestionFields): number {
  return timeoutMs;
}

/**
 * Asks until there is an answer, or no tries are left. `askOnce` says the prompt that it is given.
 * @throws NoAnswer when there is none, and the fields do not say where the flow goes on then
 */
export async function askForAnswer<Answer>(
  fields: QuestionFields,
  tools: StepTools,
  askOnce: (prompt: FlowPrompt) => Promise<Attempt<Answer>>,
): Promise<Outcome<Answer>> {
  const { retries = RETRIES } = fields;
  const failures = { noInput: 0, noMatch: 0 };
  let { prompt }: { prompt: FlowPrompt } = fields;
  let attempt = await askOnce(prompt);
  // Who had not heard the question did not mean to answer it.
  if (attempt.kind !== 'none' && attempt.isAhead && attempt.understood === null) attempt = await askOnce(prompt);
  for (let left = retries; ; left--) {
    note(attempt, fields, tools);
    if (attempt.kind !== 'none' && attempt.understood !== null) return { answer: attempt.understood.answer };
    const what = attempt.kind === 'none' ? 'noInput' : 'noMatch';
    if (left === 0) return { exit: exitWithout(fields, what, retries + 1) };
    const prompts = fields[what]?.prompts ?? [];
    prompt = prompts[Math.min(failures[what]++, prompts.length - 1)] ?? fields.prompt;
    attempt = await askOnce(prompt);
  }
}

function note(attempt: Attempt<unknown>, fields: QuestionFields, tools: StepTools): void {
  if (attempt.kind === 'none') {
    tools.note({ kind: 'none', outcome: 'noInput', text: null, value: null });
    return;
  }
  const { kind, understood } = attempt;
  const isPrivate = fields.private === true;
  const text = isPrivate ? null : attempt.text;
  const value = isPrivate ? null : (understood?.value ?? null);
  tools.note({ kind, outcome: understood === null ? 'noMatch' : 'match', text, value });
}

/** Where only one of both says where the flow goes on, that holds for the other. */
function exitWithout({ noInput, noMatch }: QuestionFields, what: 'noInput' | 'noMatch', tries: number): string {
  const [own, other] = what === 'noInput' ? [noInput, noMatch] : [noMatch, noInput];
  const exit = own?.next ?? other?.next;
  if (exit !== undefined) return exit;
  throw new NoAnswer(`no answer in ${tries} tries, and no ${what}.next says where the flow goes on`);
}
