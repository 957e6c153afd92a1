/** The verb `branch`. */
import { z } from 'zod';
import { ANSWERED_BY, conditionSchema, type FlowCondition } from '../file/conditions.ts';
import { answeredBy } from './leave-message.ts';
import { targetSchema } from './schemas.ts';
import type { StepExit, StepTools } from './step.ts';
import { defineVerb, exit, type FlowExit } from './verb.ts';

const schema = z.strictObject({
  when: z
    .array(
      z.strictObject({ if: z.union([conditionSchema, z.array(conditionSchema).min(1).max(20)]), next: targetSchema }),
    )
    .min(1)
    .max(100)
    .describe('The first whose condition is true; of a list of conditions all must be'),
  else: targetSchema.optional(),
});
type Branch = z.infer<typeof schema>;

/** Goes on with the first case whose conditions are all true; who has answered is waited for where one asks for it. */
export const branch = defineVerb({
  schema: schema.describe('Goes on by what variables hold'),
  takes: 'no time',
  shape: ['{', '}'],
  exits: (fields) => [...conditionsOf(fields), ...exit('else', fields.else)],
  goesOn: (fields) => fields.else === undefined,
  run: runBranch,
});

async function runBranch(fields: Branch, tools: StepTools): Promise<StepExit> {
  const { variables, call, signal } = tools;
  const asks = fields.when.some(({ if: all }) => [all].flat().some(({ variable }) => variable === ANSWERED_BY));
  if (asks) await answeredBy(call.answer, signal);
  const found = fields.when.find(({ if: all }) => [all].flat().every((condition) => variables.isTrue(condition)));
  return found?.next ?? fields.else ?? null;
}

function conditionsOf({ when }: Branch): FlowExit[] {
  return when.flatMap(({ if: conditions, next }, index) =>
    exit('when', next, ['when', index, 'next'], [conditions].flat().map(describeCondition).join(', ')),
  );
}

/** Comparisons in the order in which people read them. */
const COMPARISONS = [
  ['is', 'is'],
  ['isNot', 'is not'],
  ['oneOf', 'is one of'],
  ['contains', 'contains'],
  ['startsWith', 'starts with'],
  ['above', 'above'],
  ['atLeast', 'at least'],
  ['below', 'below'],
  ['atMost', 'at most'],
] as const satisfies readonly (readonly [keyof FlowCondition, string])[];

function describeCondition(condition: FlowCondition): string {
  const parts = COMPARISONS.flatMap(([name, words]) => {
    const value = condition[name];
    return value === undefined ? [] : [`${words} ${[value].flat().map(String).join(', ')}`];
  });
  if (condition.isSet !== undefined) parts.push(condition.isSet ? 'is set' : 'is not set');
  return `${condition.variable} ${parts.join(' and ')}`;
}
