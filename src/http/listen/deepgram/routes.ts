/** All routes for clients of Deepgram. They are at the root: older SDKs drop every path of the URL they are given. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import type { ListenContext } from '../context.ts';
import { nameDeepgramRequests } from './handshake.ts';
import { fluxRoute, listenRoute } from './live.ts';
import { speakRoute, speakSocketRoute } from './speak.ts';

/** `/v1/speak`, `/v1/listen` and `/v2/listen`. */
export const deepgramRoutes: FastifyPluginCallbackZod<{ context: ListenContext }> = (app, { context }, done) => {
  nameDeepgramRequests(app);
  const { speech, log } = context;
  void app.register(speakRoute, { context: speech, log });
  void app.register(speakSocketRoute, { context: speech, log });
  void app.register(listenRoute, { context });
  void app.register(fluxRoute, { context });
  done();
};
