/** `GET /v1/voices`: the voices of this server, for operators and their programs. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { VoiceInfo } from '../../../engine/contract.ts';
import { isTooSlowForCalls } from '../../speech/slow-voices.ts';
import type { Speech } from '../../speech/speech.ts';
import type { VoiceName } from '../../speech/voices.ts';
import { errorResponses } from '../server/errors.ts';
import { nameSchemas } from '../server/named-schemas.ts';
import { toRequestError } from './synthesize.ts';

const voiceAnswer = z.object({
  name: z.string().describe('To be asked for by'),
  engine: z.string().describe('The family of its model: flite, hibari, kokoro or espeak'),
  language: z.string().describe('BCP-47'),
  rateHz: z.int().describe('Hz at which it is made'),
  licence: z.string(),
  cost: z.number().nullable().describe('CPU seconds for a second of speech; null = unknown'),
  live: z.boolean().describe('Whether calls can wait for it; else it speaks in them what was made before'),
  default: z.boolean().describe('Whether it speaks where no voice is named'),
});

nameSchemas({ Voice: voiceAnswer });

interface VoiceListOptions {
  readonly speech: Pick<Speech, 'awaitVoiceNames' | 'requests'>;
}

/** The route. */
export const voiceListRoute: FastifyPluginCallbackZod<VoiceListOptions> = (app, { speech }, done) => {
  app.get(
    '/v1/voices',
    {
      config: { permission: 'models' },
      schema: {
        operationId: 'listVoices',
        summary: 'The voices of this server: engine, language, rate, licence and cost',
        tags: ['speech'],
        response: { 200: z.object({ data: z.array(voiceAnswer) }), ...errorResponses(401, 403, 429, 503) },
      },
    },
    async () => {
      const names = await awaitVoiceNames(speech);
      const usual = speech.requests.voices.resolveNow({})?.voice.name;
      const own = names.filter(({ name, voice }) => name === voice.name);
      return { data: own.map(({ voice }) => describeVoice(voice, voice.name === usual)) };
    },
  );
  done();
};

function describeVoice(voice: VoiceInfo, isDefault: boolean): z.infer<typeof voiceAnswer> {
  const { name, language, rateHz, licence, cost, model } = voice;
  const engine = model.split('-', 1)[0] ?? '';
  const live = !isTooSlowForCalls(voice);
  return { name, engine, language, rateHz, licence, cost, live, default: isDefault };
}

/**
 * The names that a text can ask for, once an engine has named its voices.
 * @throws TrunklineError `engine_unavailable`
 */
export async function awaitVoiceNames(speech: Pick<Speech, 'awaitVoiceNames'>): Promise<VoiceName[]> {
  try {
    return await speech.awaitVoiceNames();
  } catch (error) {
    throw toRequestError(error);
  }
}
