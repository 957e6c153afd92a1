/** The verb `leaveMessage`: says something that an answering machine records. */
import { z } from 'zod';
import type { CallAnswer } from '../../calls/answered/answered-by.ts';
import type { Clock } from '../../foundation/clock.ts';
import { type FlowPrompt, promptSchema, textSchema } from '../file/prompts.ts';
import { durationMs, targetSchema } from './schemas.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';
import { defineVerb, exit, promptOf } from './verb.ts';

/** As long as the longest greetings. */
const TIMEOUT_MS = 60_000;

const fullSchema = z.strictObject({
  prompt: promptSchema,
  timeoutMs: durationMs(120_000).optional().describe('How long the end of the greeting is waited for: 60000'),
  failed: targetSchema.optional().describe('The greeting did not end'),
});
const schema = z.union([
  textSchema.transform((text): z.infer<typeof fullSchema> => ({ prompt: { text } })),
  fullSchema,
]);

/**
 * Waits until the machine records, and says the message. Whoever else has answered hears it at once. What the machine
 * says meanwhile cuts nothing off unless the prompt says so.
 */
export const leaveMessage = defineVerb({
  schema: schema.describe('Says something that an answering machine records, behind its beep'),
  takes: 'time',
  exits: ({ failed }) => exit('failed', failed),
  prompts: promptOf,
  run: runLeaveMessage,
});

async function runLeaveMessage(fields: z.infer<typeof fullSchema>, tools: StepTools): Promise<StepExit> {
  const { answer, context } = tools.call;
  if (!(await isRecording(answer, context.clock, fields.timeoutMs ?? TIMEOUT_MS, tools.signal))) {
    if (fields.failed !== undefined) return fields.failed;
    throw new StepFailure(`the machine did not end its greeting within ${fields.timeoutMs ?? TIMEOUT_MS} ms`);
  }
  const prompt: FlowPrompt = fields.prompt;
  await tools.say({ ...prompt, bargeIn: prompt.bargeIn ?? 'none' });
  return null;
}

/** Resolves with false when a machine has not begun to record within `timeoutMs`. */
async function isRecording(answer: CallAnswer, clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  if ((await answeredBy(answer, signal)) !== 'machine' || answer.isListening) return true;
  return new Promise((resolve) => {
    const timer = clock.after(timeoutMs, () => resolve(false));
    const finish = (): void => {
      timer.cancel();
      resolve(true);
    };
    signal.addEventListener('abort', finish, { once: true });
    answer.onNews(({ type }) => {
      if (type === 'beep') finish();
    });
  });
}

/** Resolves with who has answered as soon as that is known; null = it is not found out, or the step is over. */
export function answeredBy(answer: CallAnswer, signal: AbortSignal): Promise<CallAnswer['by']> {
  if (!answer.isAwaited) return Promise.resolve(answer.by);
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(null), { once: true });
    answer.onNews((news) => {
      if (news.type === 'answered') resolve(news.by);
    });
  });
}
