/** The models there are, as OpenAI's `/v1/models` shows them: ours, and the names of OpenAI's that stand for them. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { TrunklineError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { errorResponses } from './errors.ts';

/** What clients written for OpenAI call its recogniser; transcriptions take any name. */
const RECOGNISER_ALIAS = 'whisper-1';

/** OpenAI's models of speech; clients written for them name one. */
const SPEECH_ALIASES = ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'] as const;
const SPEECH_ALIAS = /^(tts-1(-hd)?|gpt-4o-mini-tts)(-\d{4}(-\d{2}-\d{2})?)?$/;
const NAME_SHOWN_CHARS = 64;

type ModelSettings = Pick<Settings, 'ASR_MODEL' | 'TTS_MODEL'>;

const model = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('When this server was started, in Unix seconds'),
  owned_by: z.string(),
});

/**
 * Lets the names of what speaks pass: ours, and OpenAI's with or without a date.
 * @throws TrunklineError `model_not_found`
 */
export function requireSpeechModel(id: string, settings: ModelSettings): void {
  if (id !== settings.TTS_MODEL && !SPEECH_ALIAS.test(id)) refuse(id, [settings.TTS_MODEL, ...SPEECH_ALIASES]);
}

/** `GET /v1/models` and `GET /v1/models/:id`. */
export const modelRoutes: FastifyPluginCallbackZod<{ settings: ModelSettings; clock: Clock }> = (app, { settings, clock }, done) => {
  const created = Math.floor(clock.wall().getTime() / 1000);
  const ids = [settings.ASR_MODEL, RECOGNISER_ALIAS, settings.TTS_MODEL, ...SPEECH_ALIASES];
  const show = (id: string): z.infer<typeof model> => ({ id, object: 'model', created, owned_by: 'trunkline' });

  app.get(
    '/v1/models',
    {
      schema: {
        summary: 'The models there are',
        tags: ['speech'],
        response: { 200: z.object({ object: z.literal('list'), data: z.array(model) }), ...errorResponses(401, 403, 429) },
      },
    },
    () => ({ object: 'list' as const, data: ids.map(show) }),
  );

  app.get(
    '/v1/models/:id',
    {
      schema: {
        summary: 'One model',
        tags: ['speech'],
        params: z.object({ id: z.string() }),
        response: { 200: model, ...errorResponses(401, 403, 404, 429) },
      },
    },
    (request) => {
      const { id } = request.params;
      if (!ids.some((known) => known === id) && !SPEECH_ALIAS.test(id)) refuse(id, ids);
      return show(id);
    },
  );
  done();
};

function refuse(id: string, known: readonly string[]): never {
  const named = JSON.stringify(id.slice(0, NAME_SHOWN_CHARS));
  throw new TrunklineError(
    'model_not_found',
    `model: got ${named}, expected one of ${known.join(', ')}; GET /v1/models lists all`,
    'model',
  );
}
