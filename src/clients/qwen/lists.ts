/** What the Qwen3-TTS server tells of its model and voices, and its cache. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ownNames } from '../../http/models.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { awaitVoiceNames } from '../../http/speech/voice-list.ts';
import type { ListenContext } from '../shared/context.ts';
import { QWEN_ROUTE } from './route-config.ts';

const errors = errorResponses(401, 403, 429);

/** `GET /v1/info` and `POST /cache/clear`. */
export const listRoutes: FastifyPluginCallbackZod<{ context: ListenContext }> = (app, { context }, done) => {
  const { voices } = context;
  app.get(
    '/v1/info',
    {
      config: { ...QWEN_ROUTE, permission: 'models' },
      schema: {
        operationId: 'getSpeechInfo',
        summary: 'The model and voices of speech (Qwen3-TTS server)',
        tags: ['speech'],
        response: {
          200: z.object({ stream_type: z.literal('sentence'), voices: z.array(z.string()), model_id: z.string() }),
          ...errors,
          ...errorResponses(503),
        },
      },
    },
    async () => {
      const names = (await awaitVoiceNames(voices)).map(({ name }) => name);
      return {
        stream_type: 'sentence' as const,
        voices: names,
        model_id: ownNames('voice', context.settings)[0] ?? '',
      };
    },
  );

  app.post(
    '/cache/clear',
    {
      config: { ...QWEN_ROUTE, permission: 'prompts' },
      schema: {
        operationId: 'clearSpeechCache',
        summary: "DELETE /v1/prompts by the Qwen3-TTS server's name",
        tags: ['speech'],
        response: {
          200: z.object({
            audio_cleared: z.int().describe('Spoken sentences forgotten'),
            voice_cleared: z.int().describe('Always 0: no voices are made here'),
          }),
          ...errors,
        },
      },
    },
    () => ({ audio_cleared: voices.clearPrompts(), voice_cleared: 0 }),
  );
  done();
};
