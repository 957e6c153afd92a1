/** Clients of OpenAI's Realtime API. */
import { clientPart } from '../shared/client-part.ts';

/** Their routes. */
export const realtime = clientPart('realtime', async () => (await import('./routes.ts')).realtimeRoutes);
