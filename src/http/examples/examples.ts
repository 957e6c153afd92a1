/** An example of each body of the API, for its description alone. */
import { accessExamples } from './access.ts';
import { callExamples } from './calls.ts';
import type { Examples } from './example.ts';
import { flowExamples } from './flows.ts';
import { recordingExamples } from './recordings.ts';
import { speechExamples } from './speech.ts';
import { systemExamples } from './system.ts';

/** All of them. */
export const EXAMPLES: Examples = Object.freeze({
  ...accessExamples,
  ...callExamples,
  ...flowExamples,
  ...recordingExamples,
  ...speechExamples,
  ...systemExamples,
});
