/** The verb `transfer`. */
import type { VerbFields } from '../file/verbs.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';
import { handoffText } from './values.ts';

const TIMEOUT_MS = 30_000;

const REASONS = {
  busy: 'they are busy',
  unanswered: 'nobody answered in time',
  refused: 'it was refused',
  unsupported: 'the carrier cannot transfer this call there',
} as const;

/** Gives the caller to somebody else. Where that is done the flow is over. */
export async function runTransfer(fields: VerbFields['transfer'], tools: StepTools): Promise<StepExit> {
  const { variables, world, call } = tools;
  if (fields.prompt !== undefined) await tools.say(fields.prompt);
  const to = variables.fill(fields.to);
  const handoffData = handoffText(fields.handoffData, variables);
  const from = fields.from === undefined ? null : variables.fill(fields.from) || null;
  const outcome =
    world.transfer === undefined
      ? await call.transfer({ to, from, timeoutMs: fields.timeoutMs ?? TIMEOUT_MS, handoffData })
      : (await world.transfer(to))
        ? 'transferred'
        : 'unanswered';
  if (outcome !== 'transferred') throw new StepFailure(`the transfer failed: ${REASONS[outcome]}`);
  tools.leave('transferred', handoffData);
  return 'end';
}
