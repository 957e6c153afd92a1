/** The verb `leaveMessage`: says something that an answering machine records. */
import type { CallAnswer } from '../../calls/answered/answered-by.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { FlowPrompt } from '../file/prompts.ts';
import type { VerbFields } from '../file/verbs.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';

/** As long as the longest greetings. */
const TIMEOUT_MS = 60_000;

/**
 * Waits until the machine records, and says the message. Whoever else has answered hears it at once. What the machine
 * says meanwhile cuts nothing off unless the prompt says so.
 */
export async function runLeaveMessage(fields: VerbFields['leaveMessage'], tools: StepTools): Promise<StepExit> {
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
