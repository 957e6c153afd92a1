/** What runs of the part. */
import type { OpenPart } from '../../parts/part.ts';
import type { Services } from '../../parts/services.ts';
import { assistRoutes } from './assist-routes.ts';
import { asteriskRoutes } from './routes.ts';

/** Its routes, and the connection to ARI, which is not loaded where ARI_URL is empty. */
export async function openAsterisk(services: Services): Promise<OpenPart> {
  const trunk = services.settings.ARI_URL === '' ? null : await openAri(services);
  return {
    carrierRoutes: (app, { access }) => void app.register(asteriskRoutes, { ...services, access }),
    routes: (app, { forwarding }) =>
      void app.register(assistRoutes, {
        assistant: trunk,
        fromOthers: forwarding === null ? undefined : (...asked) => forwarding.passOnToAny(...asked, 502),
      }),
    begin: () => trunk?.open(),
    close: () => trunk?.close(),
  };
}

async function openAri(services: Services) {
  const { AsteriskTrunk } = await import('./ari/trunk.ts');
  return new AsteriskTrunk(services);
}
