/** The verb `branch`. */
import { ANSWERED_BY } from '../file/conditions.ts';
import type { VerbFields } from '../file/verbs.ts';
import { answeredBy } from './leave-message.ts';
import type { StepExit, StepTools } from './step.ts';

/** Goes on with the first case whose conditions are all true; who has answered is waited for where one asks for it. */
export async function runBranch(fields: VerbFields['branch'], tools: StepTools): Promise<StepExit> {
  const { variables, call, signal } = tools;
  const asks = fields.when.some(({ if: all }) => [all].flat().some(({ variable }) => variable === ANSWERED_BY));
  if (asks) await answeredBy(call.answer, signal);
  const found = fields.when.find(({ if: all }) => [all].flat().every((condition) => variables.isTrue(condition)));
  return found?.next ?? fields.else ?? null;
}
