/** All routes for clients of Deepgram. They are at the root: older SDKs drop every path of the URL they are given. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import type { ListenContext } from '../context.ts';
import { nameDeepgramRequests } from './handshake.ts';
import { fluxRoute, listenRoute } from './live.ts';
import { type SpeakRouteOptions, speakRoute, speakSocketRoute } from './speak.ts';

/** What the routes need. */
export interface DeepgramRoutesOptions extends SpeakRouteOptions {
  readonly live: ListenContext;
}

/** `/v1/speak`, `/v1/listen` and `/v2/listen`. */
export const deepgramRoutes: FastifyPluginCallbackZod<DeepgramRoutesOptions> = (app, { context, log, live }, done) => {
  nameDeepgramRequests(app);
  void app.register(speakRoute, { context, log });
  void app.register(speakSocketRoute, { context, log });
  void app.register(listenRoute, { context: live });
  void app.register(fluxRoute, { context: live });
  done();
};
