/** The verb `play`: a recording of the operator's. */
import { z } from 'zod';
import { bargeInSchema, nameSchema } from '../file/prompts.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';
import { defineVerb } from './verb.ts';

const fullSchema = z.strictObject({
  recording: nameSchema,
  text: z.string().max(2000).optional().describe('Said where there is no such recording in the language'),
  loop: z.number().int().min(1).max(1000).optional(),
  bargeIn: bargeInSchema.optional(),
});
type Play = z.infer<typeof fullSchema>;

/** Plays a recording, perhaps several times, until it was heard or is cut off. */
export const play = defineVerb({
  schema: z
    .union([nameSchema.transform((recording): Play => ({ recording })), fullSchema])
    .describe('Plays an own recording'),
  takes: 'time',
  prompts: ({ recording, text }) => [['prompt', { recording, ...(text !== undefined && { text }) }]],
  says: ({ recording }) => `♪ ${recording}`,
  run: runPlay,
});

async function runPlay(fields: Play, tools: StepTools): Promise<StepExit> {
  const { recording, text, loop = 1, bargeIn } = fields;
  const { language, recordings } = tools;
  if (text === undefined && recordings.find(recording, language) === null)
    throw new StepFailure(`there is no recording ${recording} for ${language}, and no text in its place`);
  const prompt = { recording, ...(text !== undefined && { text }), ...(bargeIn !== undefined && { bargeIn }) };
  for (let round = 0; round < loop; round++) if ((await tools.say(prompt)) === 'cut') break;
  return null;
}
