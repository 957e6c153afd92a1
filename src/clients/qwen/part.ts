/** Clients of the Qwen3 servers: recordings, live sound, speech. */
import { clientPart } from '../shared/client-part.ts';

/** Their own routes, and what they expect of OpenAI's. */
export const qwen = clientPart(
  'qwen',
  async () => (await import('./routes.ts')).qwenRoutes,
  async () => (await import('./family.ts')).qwenFamily,
);
