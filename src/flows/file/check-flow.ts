/** Checks of a flow's file what its schema cannot see. */
import { checkPaths } from './check-paths.ts';
import { checkSteps } from './check-steps.ts';
import { checkValues } from './check-values.ts';
import { checkVariables } from './check-variables.ts';
import type { FlowFile } from './flow-file.ts';
import type { FlowFinding } from './flow-finding.ts';
import { toFlow } from './to-flow.ts';

/**
 * All that is wrong with `file`, where other flows do not count. Where some steps could not be read, `names` has those
 * of all, and what they would be needed for is not checked.
 */
export function checkFlow(file: FlowFile, names: ReadonlySet<string>): FlowFinding[] {
  const flow = toFlow(file, '', '');
  const isWhole = names.size === flow.steps.size;
  const steps = checkSteps(flow, names);
  const isLinked = isWhole && !steps.some(({ isWarning }) => isWarning === undefined);
  return [...steps, ...(isLinked ? checkPaths(flow) : []), ...checkVariables(file, isWhole), ...checkValues(file)];
}
