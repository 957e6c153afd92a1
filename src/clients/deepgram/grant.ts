/** Deepgram's short-lived keys: `POST /v1/auth/grant`. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errorResponses } from '../../http/server/errors.ts';
import type { ListenContext } from '../shared/context.ts';

/** As at Deepgram. */
const TTL_USUAL_SECONDS = 30;
const TTL_MAX_SECONDS = 3600;

const grantBody = z
  .object({
    ttl_seconds: z
      .number()
      .min(1)
      .max(TTL_MAX_SECONDS)
      .nullish()
      .describe(`How long the key lives; ${TTL_USUAL_SECONDS} unless given`),
  })
  .nullish();

/** `POST /v1/auth/grant`. */
export const grantRoute: FastifyPluginCallbackZod<{ context: ListenContext }> = (app, { context }, done) => {
  app.post(
    '/v1/auth/grant',
    {
      config: { permission: 'keys.make', deepgram: true },
      schema: {
        operationId: 'createDeepgramKey',
        summary: 'A key that lives for a short time (Deepgram)',
        description: 'It stands for whoever asked, for audio and speech alone, and dies with the key that asked.',
        tags: ['access'],
        body: grantBody,
        response: {
          200: z.object({ access_token: z.string(), expires_in: z.number() }),
          ...errorResponses(400, 401, 403, 429),
        },
      },
    },
    async (request) => {
      const seconds = request.body?.ttl_seconds ?? TTL_USUAL_SECONDS;
      return { access_token: context.access.makeShortKey(request, seconds * 1000), expires_in: seconds };
    },
  );
  done();
};
