/** The voices and models, for clients that let people choose. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Speech } from '../../speech/speech.ts';
import { modelNames } from '../models.ts';
import { errorResponses } from '../server/errors.ts';
import { awaitVoiceNames } from './voice-list.ts';

interface VoiceRoutesOptions {
  readonly speech: Pick<Speech, 'awaitVoiceNames'>;
  readonly settings: Pick<Settings, 'ASR_MODEL' | 'ASR_FINAL_MODEL' | 'TTS_MODEL'>;
}

const named = { id: z.string().describe('To be asked for by'), name: z.string().describe('To be shown') };
const errors = errorResponses(401, 403, 429);
const waitingErrors = { ...errors, ...errorResponses(503) };

/**
 * `GET /v1/audio/voices` and `GET /v1/audio/models`, as Open WebUI reads them, and `GET /v1/info` of the Qwen3-TTS
 * server.
 */
export const voiceRoutes: FastifyPluginCallbackZod<VoiceRoutesOptions> = (app, { speech, settings }, done) => {
  app.get(
    '/v1/audio/voices',
    {
      config: { permission: 'models' },
      schema: {
        operationId: 'listSpeechVoices',
        summary: 'The voices there are, and the names of other servers that stand for them',
        tags: ['speech'],
        response: {
          200: z.object({ voices: z.array(z.object({ ...named, language: z.string().describe('BCP-47') })) }),
          ...waitingErrors,
        },
      },
    },
    async () => ({
      voices: (await awaitVoiceNames(speech)).map(({ name, voice }) => ({
        id: name,
        name: name === voice.name ? name : `${name} (${voice.name})`,
        language: voice.language,
      })),
    }),
  );

  app.get(
    '/v1/audio/models',
    {
      config: { permission: 'models' },
      schema: {
        operationId: 'listSpeechModels',
        summary: 'The models that speak, by every name they are listed under',
        tags: ['speech'],
        response: { 200: z.object({ models: z.array(z.object(named)) }), ...errors },
      },
    },
    () => ({ models: modelNames('voice', settings).map((name) => ({ id: name, name })) }),
  );

  app.get(
    '/v1/info',
    {
      config: { permission: 'models', qwen: 'always' },
      schema: {
        operationId: 'getSpeechInfo',
        summary: 'The model and voices of speech (Qwen3-TTS server)',
        tags: ['speech'],
        response: {
          200: z.object({ stream_type: z.literal('sentence'), voices: z.array(z.string()), model_id: z.string() }),
          ...waitingErrors,
        },
      },
    },
    async () => {
      const voices = (await awaitVoiceNames(speech)).map(({ name }) => name);
      return { stream_type: 'sentence' as const, voices, model_id: modelNames('voice', settings)[0] ?? '' };
    },
  );
  done();
};
