/** jambonz, with this server as its custom speech vendor. */
import { clientPart } from '../shared/client-part.ts';

/** Their routes. */
export const jambonz = clientPart('jambonz', async () => (await import('./routes.ts')).jambonzRoutes);
