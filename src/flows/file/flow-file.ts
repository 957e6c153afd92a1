/** What stands in a flow's YAML file. `docs/guide/flows.md` says it from the writer's side. */
import { z } from 'zod';
import { currencySchema } from '../verbs/schemas.ts';
import { VERB_SCHEMAS } from '../verbs/table.ts';
import { valueSchema, variableSchema } from './conditions.ts';
import { bargeInSchema, nameSchema, promptSchema } from './prompts.ts';

/** Most steps of one flow. */
const STEPS_MAX = 500;

const optionalVerbs = z.strictObject(VERB_SCHEMAS).partial().shape;
const stepSchema = z.strictObject({
  ...optionalVerbs,
  next: nameSchema.optional().describe('The step that follows; without it the flow ends here'),
  about: z.string().max(500).optional().describe('For people who read the flow'),
});

/** A flow, as it is written. That each step has one verb, and goes on somewhere, is checked by `check-flow.ts`. */
export const flowSchema = z.strictObject({
  version: z.literal(1),
  about: z.string().max(500).optional(),
  start: nameSchema,
  language: z.string().max(64).optional().describe('Of the prompts and of the caller, such as en-US'),
  voice: z.string().optional(),
  timeZone: z
    .string()
    .optional()
    .describe('Of the callers, of the IANA database, such as Europe/Berlin: for answers such as tomorrow. UTC'),
  currency: currencySchema.optional().describe('Of amounts that name none, said by callers and to them'),
  bargeIn: bargeInSchema.optional().describe('What may cut prompts off: any unless given'),
  keys: z
    .record(z.string().regex(/^[0-9*#]$/, 'expected one key: 0 to 9, * or #'), nameSchema)
    .optional()
    .describe('Keys that always work, and where they lead: a step, back or repeat'),
  parameters: z.record(variableSchema, valueSchema).optional().describe('What a flow that calls this one may give'),
  variables: z.record(variableSchema, valueSchema).optional(),
  failed: nameSchema.optional().describe('The step that follows when one cannot be done'),
  fax: nameSchema.optional().describe('The step that follows when the caller is a fax machine'),
  failedPrompt: promptSchema.optional().describe('Said where no step follows'),
  limits: z
    .strictObject({
      steps: z.number().int().min(1).max(10_000).optional().describe('In one call: 500'),
      visits: z.number().int().min(1).max(1000).optional().describe('Of one step in one call: 50'),
      timeMs: z.number().int().min(1000).max(14_400_000).optional().describe('1800000'),
    })
    .optional(),
  steps: z
    .record(nameSchema, stepSchema)
    .refine((steps) => Object.keys(steps).length <= STEPS_MAX, `expected at most ${STEPS_MAX} steps`),
});

/** A flow as it is written, read. */
export type FlowFile = z.infer<typeof flowSchema>;
