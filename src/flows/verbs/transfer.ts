/** The verb `transfer`. */
import { z } from 'zod';
import type { TransferOutcome } from '../../calls/leg.ts';
import { valueSchema } from '../file/conditions.ts';
import { promptSchema } from '../file/prompts.ts';
import { durationMs, targetSchema } from './schemas.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';
import { handoffText } from './values.ts';
import { defineVerb, exit, promptOf } from './verb.ts';

const TIMEOUT_MS = 30_000;

const REASONS = {
  busy: 'they are busy',
  unanswered: 'nobody answered in time',
  refused: 'it was refused',
  unsupported: 'the carrier cannot transfer this call there',
} as const;

const placeSchema = z.string().min(1).max(256);
const fullSchema = z.strictObject({
  to: placeSchema.describe('A number, a SIP address, or context/extension of Asterisk'),
  from: z.string().max(256).optional().describe('The caller number that the other side sees'),
  prompt: promptSchema.optional(),
  timeoutMs: durationMs(120_000).optional().describe('How long it may ring: 30000'),
  handoffData: z.union([z.string(), z.record(z.string(), valueSchema)]).optional(),
  busy: targetSchema.optional().describe('They are busy; `failed` unless given'),
  noAnswer: targetSchema.optional().describe('Nobody answered in time; `failed` unless given'),
  failed: targetSchema.optional().describe('Nobody answered, or the carrier cannot'),
});
const schema = z.union([placeSchema.transform((to): z.infer<typeof fullSchema> => ({ to })), fullSchema]);
type Transfer = z.infer<typeof fullSchema>;

/**
 * Gives the caller to somebody else. Where that is done the flow is over. A call that comes back from a transfer that
 * came to nothing goes on here, with what became of it.
 */
export const transfer = defineVerb({
  schema: schema.describe('Puts the caller through'),
  takes: 'caller',
  shape: ['([', '])'],
  exits: ({ busy, noAnswer, failed }) => [
    ...exit('busy', busy),
    ...exit('noAnswer', noAnswer),
    ...exit('failed', failed),
  ],
  prompts: promptOf,
  exitWithout: ({ failed }) => failed ?? null,
  run: runTransfer,
});

async function runTransfer(fields: Transfer, tools: StepTools): Promise<StepExit> {
  const { variables } = tools;
  const handoffData = handoffText(fields.handoffData, variables);
  const outcome = tools.takeReturn() ?? (await giveAway(fields, tools, handoffData));
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
function exitFor({ busy, noAnswer }: Transfer, outcome: TransferOutcome): string | undefined {
  if (outcome === 'busy') return busy;
  return outcome === 'unanswered' ? noAnswer : undefined;
}

async function giveAway(fields: Transfer, tools: StepTools, handoffData: string | null): Promise<TransferOutcome> {
  const { variables, world, call } = tools;
  if (fields.prompt !== undefined) await tools.say(fields.prompt);
  const to = variables.fill(fields.to);
  const from = fields.from === undefined ? null : variables.fill(fields.from) || null;
  if (world.transfer !== undefined) return (await world.transfer(to)) ? 'transferred' : 'unanswered';
  const resume = tools.keepPlace();
  const timeoutMs = fields.timeoutMs ?? TIMEOUT_MS;
  return await call.transfer({ to, from, timeoutMs, handoffData, ...(resume !== null && { resume }) });
}
