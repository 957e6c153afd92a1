/** Clients of Deepgram: live sound, files, speech. */
import { clientPart } from '../shared/client-part.ts';

/** Their routes. */
export const deepgram = clientPart('deepgram', async () => (await import('./routes.ts')).deepgramRoutes);
