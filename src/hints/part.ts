/** Cards beside a call, from a file or a language model. */
import type { Part } from '../parts/part.ts';
import { MAIN_TENANT } from '../parts/services.ts';

/** On where there is a file or a model. */
export const hints: Part = {
  name: 'hints',
  isOn: ({ HINTS_FILE, HINTS_BASE_URL }) => HINTS_FILE !== '' || HINTS_BASE_URL !== '',
  open: async (services) => {
    const { openHints } = await import('./open-hints.ts');
    return openHints({ ...services, feed: services.feed.of(MAIN_TENANT) });
  },
};
