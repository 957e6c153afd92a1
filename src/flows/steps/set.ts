/** The verb `set`. */
import type { VerbFields } from '../file/verbs.ts';
import type { StepExit, StepTools } from './step.ts';
import { resolveValue } from './values.ts';

/** Gives variables new values, one after the other. */
export async function runSet(fields: VerbFields['set'], { variables }: StepTools): Promise<StepExit> {
  for (const [name, value] of Object.entries(fields)) variables.set(name, resolveValue(value, variables));
  return null;
}
