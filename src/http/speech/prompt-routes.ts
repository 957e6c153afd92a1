/** Clears the caches of spoken sentences. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Speech } from '../../speech/speech.ts';
import { errorResponses } from '../server/errors.ts';

const count = z.int().describe('Spoken sentences forgotten');

/** `DELETE /v1/prompts`. */
export const promptRoutes: FastifyPluginCallbackZod<{ speech: Pick<Speech, 'clearPrompts'> }> = (
  app,
  { speech },
  done,
) => {
  app.delete(
    '/v1/prompts',
    {
      config: { permission: 'prompts' },
      schema: {
        operationId: 'clearPrompts',
        summary: 'Forget all spoken sentences, in memory and on disk',
        description: 'They are made anew when they are next wanted.',
        tags: ['speech'],
        response: { 200: z.object({ cleared: count }), ...errorResponses(401, 403, 429) },
      },
    },
    () => ({ cleared: speech.clearPrompts() }),
  );
  done();
};
