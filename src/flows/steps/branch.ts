/** The verb `branch`. */
import type { VerbFields } from '../file/verbs.ts';
import type { StepExit, StepTools } from './step.ts';

/** Goes on with the first case whose conditions are all true. */
export async function runBranch(fields: VerbFields['branch'], { variables }: StepTools): Promise<StepExit> {
  const found = fields.when.find(({ if: all }) => [all].flat().every((condition) => variables.isTrue(condition)));
  return found?.next ?? fields.else ?? null;
}
