/** The verb `say`. */
import { promptSchema } from '../file/prompts.ts';
import { defineVerb } from './verb.ts';

/** Says a prompt, and goes on when it was heard or cut off. */
export const say = defineVerb({
  schema: promptSchema.describe('Says a text, or plays a recording'),
  takes: 'time',
  prompts: (prompt) => [['prompt', prompt]],
  run: async (prompt, tools) => {
    await tools.say(prompt);
    return null;
  },
});
