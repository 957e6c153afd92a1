/** The verb `transfer`. */
import type { TransferOutcome } from '../../calls/leg.ts';
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

/**
 * Gives the caller to somebody else. Where that is done the flow is over. A call that comes back from a transfer that
 * came to nothing goes on here, with what became of it.
 */
export async function runTransfer(fields: VerbFields['transfer'], tools: StepTools): Promise<StepExit> {
  const { variables } = tools;
  const handoffData = handoffText(fields.handoffData, variables);
  const outcome = tools.takeReturn() ?? (await transfer(fields, tools, handoffData));
  if (outcome === 'transferred') {
    tools.leave('transferred', handoffData);
    return 'end';
  }
  const own = exitFor(fields, outcome);
  if (own === undefined) throw new StepFailure(`the transfer failed: ${REASONS[outcome]}`);
  tools.call.log.info({ flow: tools.flow, step: tools.step, outcome }, 'a transfer came to nothing');
  return own;
}

/** What the step says of an outcome beside `failed`. */
function exitFor({ busy, noAnswer }: VerbFields['transfer'], outcome: TransferOutcome): string | undefined {
  if (outcome === 'busy') return busy;
  return outcome === 'unanswered' ? noAnswer : undefined;
}

async function transfer(
  fields: VerbFields['transfer'],
  tools: StepTools,
  handoffData: string | null,
): Promise<TransferOutcome> {
  const { variables, world, call } = tools;
  if (fields.prompt !== undefined) await tools.say(fields.prompt);
  const to = variables.fill(fields.to);
  const from = fields.from === undefined ? null : variables.fill(fields.from) || null;
  if (world.transfer !== undefined) return (await world.transfer(to)) ? 'transferred' : 'unanswered';
  const resume = tools.keepPlace();
  const timeoutMs = fields.timeoutMs ?? TIMEOUT_MS;
  return await call.transfer({ to, from, timeoutMs, handoffData, ...(resume !== null && { resume }) });
}
