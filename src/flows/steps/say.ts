/** The verb `say`. */
import type { VerbFields } from '../file/verbs.ts';
import type { StepExit, StepTools } from './step.ts';

/** Says a prompt, and goes on when it was heard or cut off. */
export async function runSay(fields: VerbFields['say'], tools: StepTools): Promise<StepExit> {
  await tools.say(fields);
  return null;
}
