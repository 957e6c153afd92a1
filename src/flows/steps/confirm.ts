/** The verb `confirm`: yes or no. */
import type { FlowPrompt } from '../file/prompts.ts';
import type { VerbFields } from '../file/verbs.ts';
import { expectedAnswer } from '../understand/expected-answers.ts';
import { understand } from '../understand/understand.ts';
import { type Attempt, askForAnswer, isSure, timeoutOf } from './question.ts';
import type { StepExit, StepTools } from './step.ts';

/** Keys that mean yes and no. */
const YES = '1';
const NO = '2';

/** Goes on where yes or no leads. */
export async function runConfirm(fields: VerbFields['confirm'], tools: StepTools): Promise<StepExit> {
  const outcome = await askForAnswer(fields, tools, (prompt) => askOnce(fields, tools, prompt));
  if ('exit' in outcome) return outcome.exit;
  return outcome.answer ? fields.yes : fields.no;
}

async function askOnce(fields: VerbFields['confirm'], tools: StepTools, prompt: FlowPrompt): Promise<Attempt<boolean>> {
  const { language, world, timeZone } = tools;
  const question = { kind: 'yesNo', language, now: world.wall(), timeZone } as const;
  const answerIn = (text: string) => understand(text, question);
  const input = await tools.ask(prompt, {
    timeoutMs: timeoutOf(fields),
    accepts: 'any',
    keys: [YES, NO],
    answer: expectedAnswer(question),
    answersAside: (text) => answerIn(text) !== null,
  });
  if (input.type === 'silence') return { kind: 'none' };
  if (input.type === 'key')
    return {
      kind: 'keys',
      text: input.key,
      isAhead: false,
      understood: understood(input.key === YES || (input.key === NO ? false : null)),
    };
  const { value = null } = (isSure(input) ? answerIn(input.text) : null) ?? {};
  const isYes = typeof value === 'boolean' ? value : null;
  return { kind: 'speech', text: input.text, isAhead: input.isAhead, understood: understood(isYes) };
}

function understood(isYes: boolean | null) {
  return isYes === null ? null : { value: isYes, answer: isYes };
}
