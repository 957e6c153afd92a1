/** The verb `set`. */
import { z } from 'zod';
import { valueSchema, variableSchema } from '../file/conditions.ts';
import { resolveValue } from './values.ts';
import { defineVerb } from './verb.ts';

/** Gives variables new values, one after the other. */
export const set = defineVerb({
  schema: z.record(variableSchema, valueSchema).describe('Sets variables'),
  takes: 'no time',
  run: async (fields, { variables }) => {
    for (const [name, value] of Object.entries(fields)) variables.set(name, resolveValue(value, variables));
    return null;
  },
});
