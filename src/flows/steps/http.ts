/** The verb `http`. */
import type { VerbFields } from '../file/verbs.ts';
import { askServer } from './ask-server.ts';
import type { StepExit, StepTools } from './step.ts';

/** Asks a server, and says something meanwhile. The flow goes on when both are done. */
export async function runHttp(fields: VerbFields['http'], tools: StepTools): Promise<StepExit> {
  const { waiting } = fields;
  const [said, asked] = await Promise.allSettled([
    waiting === undefined ? Promise.resolve() : tools.say(waiting),
    askServer(fields, tools),
  ]);
  if (asked.status === 'rejected') throw asked.reason;
  if (said.status === 'rejected') throw said.reason;
  return null;
}
