/** The paths that only the Qwen3 servers have, so that their clients move by changing the host. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import type { ListenContext } from '../shared/context.ts';
import { cloneRoute } from './clone.ts';
import { listRoutes } from './lists.ts';
import { liveRoute } from './live.ts';
import { recordingRoutes } from './recordings.ts';
import { speechSocketRoute, speechStreamRoutes } from './speech.ts';

/** All of them, to be registered where a key is asked for. */
export const qwenRoutes: FastifyPluginCallbackZod<{ context: ListenContext }> = (app, { context }, done) => {
  app.addHook('onResponse', async ({ routeOptions: { url = 'none' } }) => {
    context.metrics.qwenRequests.inc({ route: url });
  });
  void app.register(recordingRoutes, { context });
  void app.register(liveRoute, { context });
  void app.register(speechStreamRoutes, { context: context.speech });
  void app.register(speechSocketRoute, { context });
  void app.register(cloneRoute);
  void app.register(listRoutes, { context });
  done();
};
