/** All routes for clients of Deepgram. They are at the root: older SDKs drop every path of the URL they are given. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { nameDeepgramRequests } from './handshake.ts';
import { type SpeakRouteOptions, speakRoute, speakSocketRoute } from './speak.ts';

/** What the routes need. */
export type DeepgramRoutesOptions = SpeakRouteOptions;

/** `/v1/speak`. */
export const deepgramRoutes: FastifyPluginCallbackZod<DeepgramRoutesOptions> = (app, { context, log }, done) => {
  nameDeepgramRequests(app);
  void app.register(speakRoute, { context, log });
  void app.register(speakSocketRoute, { context, log });
  done();
};
