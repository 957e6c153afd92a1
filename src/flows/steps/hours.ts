/** The verb `hours`. */
import type { VerbFields } from '../file/verbs.ts';
import { isOpen } from '../understand/hours.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';

/** Goes on where the opening hours lead at this moment. */
export async function runHours(fields: VerbFields['hours'], { world, timeZone }: StepTools): Promise<StepExit> {
  try {
    const { open, closed, holiday = closed } = fields;
    return { open, closed, holiday }[isOpen(fields, world.wall(), timeZone)];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StepFailure(`the hours cannot be read: ${error.message}`);
  }
}
