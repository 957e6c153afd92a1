/** Clears the caches of spoken sentences. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Speech } from '../../speech/speech.ts';
import { errorResponses } from '../server/errors.ts';

const count = z.int().describe('Spoken sentences forgotten');

/** `DELETE /v1/prompts`, and `POST /cache/clear` as the Qwen3-TTS server has it. */
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

  app.post(
    '/cache/clear',
    {
      config: { permission: 'prompts', qwen: 'always' },
      schema: {
        operationId: 'clearSpeechCache',
        summary: "DELETE /v1/prompts by the Qwen3-TTS server's name",
        tags: ['speech'],
        response: {
          200: z.object({ audio_cleared: count, voice_cleared: z.int().describe('Always 0: no voices are made here') }),
          ...errorResponses(401, 403, 429),
        },
      },
    },
    () => ({ audio_cleared: speech.clearPrompts(), voice_cleared: 0 }),
  );
  done();
};
