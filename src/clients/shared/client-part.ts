/** A part for a family of other services' clients: their routes, with the keys of this server. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import type { Part } from '../../parts/part.ts';
import type { ListenContext } from './context.ts';

/** Routes that work with what such clients have in common. */
export type ClientRoutes = FastifyPluginCallbackZod<{ context: ListenContext }>;

/** The part `name`, always on; `load` loads its routes. */
export function clientPart(name: string, load: () => Promise<ClientRoutes>): Part {
  return {
    name,
    open: async (services) => {
      const [routes, { listenContext }] = await Promise.all([load(), import('./context.ts')]);
      return { routes: (app, http) => void app.register(routes, { context: listenContext(services, http) }) };
    },
  };
}
