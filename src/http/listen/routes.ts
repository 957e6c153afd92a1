/** The routes that unchanged clients of other services use: each protocol has a folder here. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import type { ListenContext } from './context.ts';
import { deepgramRoutes } from './deepgram/routes.ts';
import { jambonzRoutes } from './jambonz/routes.ts';
import { realtimeRoutes } from './realtime/routes.ts';

/** To be registered where a key is asked for. */
export const listenRoutes: FastifyPluginCallbackZod<{ context: ListenContext }> = (app, { context }, done) => {
  void app.register(deepgramRoutes, { context });
  void app.register(jambonzRoutes, { context });
  void app.register(realtimeRoutes, { context });
  done();
};
