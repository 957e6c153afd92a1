/** All routes for clients of Deepgram. They are at the root: older SDKs drop every path of the URL they are given. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { type FileRouteOptions, fileRoute } from './files.ts';
import { nameDeepgramRequests } from './handshake.ts';
import { type SpeakRouteOptions, speakRoute, speakSocketRoute } from './speak.ts';

/** What the routes need. */
export type DeepgramRoutesOptions = SpeakRouteOptions & FileRouteOptions;

/** `/v1/speak` and `POST /v1/listen`. */
export const deepgramRoutes: FastifyPluginCallbackZod<DeepgramRoutesOptions> = (app, options, done) => {
  const { context, log } = options;
  nameDeepgramRequests(app);
  void app.register(fileRoute, options);
  void app.register(speakRoute, { context, log });
  void app.register(speakSocketRoute, { context, log });
  done();
};
