/** The verb `language`. */
import type { VerbFields } from '../file/verbs.ts';
import type { StepExit, StepTools } from './step.ts';

/** From now on both sides speak another language. */
export async function runLanguage({ to, voice }: VerbFields['language'], tools: StepTools): Promise<StepExit> {
  tools.speakIn(tools.variables.fill(to), voice ?? null);
  return null;
}
