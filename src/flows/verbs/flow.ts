/** The verb `flow`: the flow itself goes into the one that is called, and comes back. */
import { z } from 'zod';
import { valueSchema, variableSchema } from '../file/conditions.ts';
import { nameSchema } from '../file/prompts.ts';
import { defineVerb } from './verb.ts';

const fullSchema = z.strictObject({
  name: nameSchema,
  with: z.record(variableSchema, valueSchema).optional(),
  into: z.record(variableSchema, variableSchema).optional().describe('Our variables from those of the flow at its end'),
});

/** Calls another flow. */
export const flow = defineVerb({
  schema: z
    .union([nameSchema.transform((name): z.infer<typeof fullSchema> => ({ name })), fullSchema])
    .describe('Calls another flow'),
  takes: 'caller',
  shape: ['[[', ']]'],
});
