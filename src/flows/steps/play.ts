/** The verb `play`: a recording of the operator's. */
import type { VerbFields } from '../file/verbs.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';

/** Plays a recording, perhaps several times, until it was heard or is cut off. */
export async function runPlay(fields: VerbFields['play'], tools: StepTools): Promise<StepExit> {
  const { recording, text, loop = 1, bargeIn } = fields;
  const { language, recordings } = tools;
  if (text === undefined && recordings.find(recording, language) === null)
    throw new StepFailure(`there is no recording ${recording} for ${language}, and no text in its place`);
  const prompt = { recording, ...(text !== undefined && { text }), ...(bargeIn !== undefined && { bargeIn }) };
  for (let round = 0; round < loop; round++) if ((await tools.say(prompt)) === 'cut') break;
  return null;
}
