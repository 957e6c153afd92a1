/** All routes for clients of Deepgram. They are at the root: older SDKs drop every path of the URL they are given. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { StreamDecoders } from '../../recordings/streams/stream-decoders.ts';
import type { ListenContext } from '../shared/context.ts';
import { fileRoute } from './files.ts';
import { grantRoute } from './grant.ts';
import { nameDeepgramRequests } from './handshake.ts';
import { fluxRoute, listenRoute } from './live.ts';
import { projectsRoute } from './projects.ts';
import { SPEAK_V1, SPEAK_V2, speakRoute, speakSocketRoute } from './speak.ts';

/** `/v1/speak`, `/v2/speak`, `/v1/listen`, `/v2/listen`, `/v1/auth/grant` and `/v1/projects`. */
export const deepgramRoutes: FastifyPluginCallbackZod<{ context: ListenContext }> = (app, { context }, done) => {
  const { clock, settings } = context;
  const decoders = new StreamDecoders({ clock, ffmpegTimeoutMs: settings.FFMPEG_TIMEOUT_MS });
  app.addHook('onClose', async () => decoders.close());
  nameDeepgramRequests(app);
  for (const version of [SPEAK_V1, SPEAK_V2]) {
    void app.register(speakRoute, { context, version });
    void app.register(speakSocketRoute, { context, version });
  }
  void app.register(fileRoute, { context });
  void app.register(listenRoute, { context, decoders });
  void app.register(fluxRoute, { context, decoders });
  void app.register(grantRoute, { context });
  void app.register(projectsRoute);
  done();
};
