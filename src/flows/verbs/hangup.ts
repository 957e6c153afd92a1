/** The verb `hangup`. */
import { z } from 'zod';
import { valueSchema } from '../file/conditions.ts';
import { promptSchema, textSchema } from '../file/prompts.ts';
import { handoffText } from './values.ts';
import { defineVerb, promptOf } from './verb.ts';

const fullSchema = z.strictObject({
  prompt: promptSchema.optional(),
  handoffData: z.union([z.string(), z.record(z.string(), valueSchema)]).optional(),
});

/** Says goodbye and ends the call. */
export const hangup = defineVerb({
  schema: z
    .union([textSchema.transform((text): z.infer<typeof fullSchema> => ({ prompt: { text } })), fullSchema])
    .describe('Ends the call'),
  takes: 'caller',
  shape: ['([', '])'],
  goesOn: () => false,
  prompts: promptOf,
  run: async (fields, tools) => {
    // Who hangs up while goodbye is said has come to the end.
    tools.leave('done', handoffText(fields.handoffData, tools.variables));
    if (fields.prompt !== undefined) await tools.say(fields.prompt);
    return 'end';
  },
});
