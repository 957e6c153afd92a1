/** Clients of a server that there is not: one folder, as those of src/clients. */
import { clientPart } from '../../../../src/clients/shared/client-part.ts';

export const pretendClients = clientPart(
  'pretend-clients',
  async () => (await import('./routes.ts')).pretendRoutes,
  async () => (await import('./routes.ts')).pretendFamily,
);
