/** The verb `language`. */
import { z } from 'zod';
import { checkLanguage } from './check-language.ts';
import { defineVerb } from './verb.ts';

const languageSchema = z.string().min(2).max(64);
const fullSchema = z.strictObject({ to: languageSchema, voice: z.string().optional() });

/** From now on both sides speak another language. */
export const language = defineVerb({
  schema: z
    .union([languageSchema.transform((to): z.infer<typeof fullSchema> => ({ to })), fullSchema])
    .describe('Changes the language'),
  takes: 'no time',
  check: ({ to }, path) => checkLanguage(to, [...path, 'to']),
  run: async ({ to, voice }, tools) => {
    tools.speakIn(tools.variables.fill(to), voice ?? null);
    return null;
  },
});
