/** The verb `hangup`. */
import type { VerbFields } from '../file/verbs.ts';
import type { StepExit, StepTools } from './step.ts';
import { handoffText } from './values.ts';

/** Says goodbye and ends the call. */
export async function runHangup(fields: VerbFields['hangup'], tools: StepTools): Promise<StepExit> {
  // Who hangs up while goodbye is said has come to the end.
  tools.leave('done', handoffText(fields.handoffData, tools.variables));
  if (fields.prompt !== undefined) await tools.say(fields.prompt);
  return 'end';
}
