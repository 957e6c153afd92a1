/** Clients of Azure OpenAI: the routes of OpenAI's clients answer them. */
import type { Part } from '../../parts/part.ts';

/** Their paths. */
export const azure: Part = {
  name: 'azure',
  open: async () => {
    const { openAiUrl } = await import('./wire/paths.ts');
    return { rewrite: openAiUrl };
  },
};
