/** The verb `confirm`: yes or no. */
import { z } from 'zod';
import type { FlowPrompt } from '../file/prompts.ts';
import { expectedAnswer } from '../understand/expected-answers.ts';
import { understand } from '../understand/understand.ts';
import {
  type Attempt,
  askForAnswer,
  fallbackExits,
  isSure,
  leavesUnanswered,
  nextWithout,
  QUESTION_SHAPE,
  questionPrompts,
  timeoutOf,
} from './question.ts';
import { targetSchema } from './schemas.ts';
import type { StepExit, StepTools } from './step.ts';
import { defineVerb, exit } from './verb.ts';

const schema = z.strictObject({ ...QUESTION_SHAPE, yes: targetSchema, no: targetSchema });
type Confirm = z.infer<typeof schema>;

/** Goes on where yes or no leads. */
export const confirm = defineVerb({
  schema: schema.describe('Asks for yes or no'),
  takes: 'caller',
  shape: ['{{', '}}'],
  isQuestion: true,
  exits: (fields) => [...exit('yes', fields.yes), ...exit('no', fields.no), ...fallbackExits(fields)],
  goesOn: () => false,
  prompts: questionPrompts,
  leavesUnanswered,
  exitWithout: nextWithout,
  run: runConfirm,
});

/** Keys that mean yes and no. */
const YES = '1';
const NO = '2';

async function runConfirm(fields: Confirm, tools: StepTools): Promise<StepExit> {
  const outcome = await askForAnswer(fields, tools, (prompt) => askOnce(fields, tools, prompt));
  if ('exit' in outcome) return outcome.exit;
  return outcome.answer ? fields.yes : fields.no;
}

async function askOnce(fields: Confirm, tools: StepTools, prompt: FlowPrompt): Promise<Attempt<boolean>> {
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
