/** A part for a family of other services' clients: their routes, with the keys of this server. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import type { Metrics } from '../../foundation/metrics.ts';
import type { ClientFamily } from '../../http/server/client-families.ts';
import type { Part } from '../../parts/part.ts';
import type { ListenContext } from './context.ts';

/** Routes that work with what such clients have in common. */
export type ClientRoutes = FastifyPluginCallbackZod<{ context: ListenContext }>;

/** Makes what such clients expect on paths of OpenAI's. */
export type MakeFamily = (metrics: Metrics) => ClientFamily;

/** The part `name`, always on; `load` loads its routes, `loadFamily` what its clients expect on paths of OpenAI's. */
export function clientPart(
  name: string,
  load: () => Promise<ClientRoutes>,
  loadFamily?: () => Promise<MakeFamily>,
): Part {
  return {
    name,
    open: async (services) => {
      const [routes, { listenContext }] = await Promise.all([load(), import('./context.ts')]);
      const family = await loadFamily?.();
      return {
        routes: (app, http) => void app.register(routes, { context: listenContext(services, http) }),
        ...(family !== undefined && { family: family(services.metrics) }),
      };
    },
  };
}
