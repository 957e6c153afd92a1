/** The voices and models, for clients that let people choose. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Speech } from '../../speech/speech.ts';
import { type ModelNames, modelNames } from '../models.ts';
import { errorResponses } from '../server/errors.ts';
import { awaitVoiceNames } from './voice-list.ts';

interface VoiceRoutesOptions {
  readonly speech: Pick<Speech, 'awaitVoiceNames'>;
  readonly models: ModelNames;
}

const named = { id: z.string().describe('To be asked for by'), name: z.string().describe('To be shown') };
const errors = errorResponses(401, 403, 429);
const waitingErrors = { ...errors, ...errorResponses(503) };

/** `GET /v1/audio/voices` and `GET /v1/audio/models`, as Open WebUI reads them. */
export const voiceRoutes: FastifyPluginCallbackZod<VoiceRoutesOptions> = (app, { speech, models }, done) => {
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
    () => ({ models: modelNames('voice', models).map((name) => ({ id: name, name })) }),
  );
  done();
};
