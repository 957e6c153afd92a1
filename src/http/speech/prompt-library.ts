/** The spoken sentences that are cached, and recordings in their place: list, listen, record, delete. */
import multipart from '@fastify/multipart';
import type { FastifyReply } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { writeWav } from '../../audio/wav.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { ListedPrompt, PromptDescription } from '../../speech/prompt-library.ts';
import { RECORDED_MAX_MS } from '../../speech/recorded-prompts.ts';
import type { Speech } from '../../speech/speech.ts';
import type { WavLeveller } from '../../speech/wav-leveller.ts';
import { errorResponses } from '../server/errors.ts';
import { goneSignal } from '../server/gone-signal.ts';
import { nameSchemas } from '../server/named-schemas.ts';
import { type ListPosition, pageOf, pageQuery, pageSchema } from '../server/pages.ts';
import { readPromptForm } from './prompt-form.ts';

/** Each is held in memory until it is decoded. */
const UPLOADS_MAX = 2;
/** Descriptions are read from files. */
const PAGE_MAX = 100;

interface PromptLibraryOptions {
  readonly speech: Pick<Speech, 'prompts' | 'calls'>;
  readonly leveller: WavLeveller;
}

const idParams = z.object({ id: z.string().regex(/^[0-9a-f]{32,64}$/, 'expected the id of a prompt') });
const errors = errorResponses(400, 401, 403, 404, 429);

const promptSchema = z.object({
  id: z.string(),
  source: z.enum(['recorded', 'calls', 'requests']).describe('`recorded`: uploaded; else who had it synthesized'),
  text: z.string(),
  voice: z.string(),
  speed: z.number().nullable().describe('Null: that of the recording'),
  codec: z.object({ name: z.string(), rateHz: z.int() }).nullable().describe('Null: in every codec'),
  durationMs: z.int(),
  bytes: z.int(),
  madeAt: z.string(),
  usedAt: z.string().describe('When it was last wanted; of one from before the start, when it was made'),
});

nameSchemas({ Prompt: promptSchema });

/** `GET` and `POST /v1/prompts`, `GET /v1/prompts/{id}/sound`, `DELETE /v1/prompts/{id}`. */
export const promptLibraryRoutes: FastifyPluginCallbackZod<PromptLibraryOptions> = (app, options, done) => {
  const { prompts } = options.speech;
  void app.register(multipart);
  app.get(
    '/v1/prompts',
    {
      config: { permission: 'prompts.read' },
      schema: {
        operationId: 'listPrompts',
        summary: 'The spoken sentences that are kept',
        description: 'Recordings first, then the 1000 cached sentences of calls and of requests that were used last.',
        tags: ['speech'],
        querystring: pageQuery,
        response: { 200: pageSchema(promptSchema), ...errorResponses(400, 401, 403, 429) },
      },
    },
    async ({ query }) => {
      const { data, next } = pageOf(prompts.list(), positionOf, { ...query, limit: Math.min(query.limit, PAGE_MAX) });
      const described = await Promise.all(data.map(async (prompt) => show(prompt, await prompts.describe(prompt))));
      return { data: described.flat(), next };
    },
  );

  app.get(
    '/v1/prompts/:id/sound',
    {
      config: { permission: 'prompts.read' },
      schema: {
        operationId: 'getPromptSound',
        summary: 'Listen to a prompt',
        tags: ['speech'],
        params: idParams,
        response: {
          200: { description: 'WAV, 16 bit', content: { 'audio/wav': { schema: z.string().describe('The file') } } },
          ...errors,
        },
      },
    },
    async ({ params }, reply) => {
      const sound = await prompts.sound(params.id);
      if (sound === null) throw unknownPrompt();
      // The schema is for people: what is sent are bytes.
      return (reply as FastifyReply).type('audio/wav').send(Buffer.from(writeWav([sound.samples], sound.rateHz)));
    },
  );

  void app.register(forgetRoute, options);
  void app.register(recordRoute, options);
  done();
};

const forgetRoute: FastifyPluginCallbackZod<PromptLibraryOptions> = (app, { speech: { prompts } }, done) => {
  app.delete(
    '/v1/prompts/:id',
    {
      config: { permission: 'prompts' },
      schema: {
        operationId: 'deletePrompt',
        summary: 'Forget one spoken sentence, or a recording of one',
        description: 'It is synthesized anew when it is next wanted.',
        tags: ['speech'],
        params: idParams,
        response: { 204: z.undefined().describe('Forgotten'), ...errors },
      },
    },
    async ({ params }, reply) => {
      if (!(await prompts.delete(params.id))) throw unknownPrompt();
      return reply.code(204).send();
    },
  );
  done();
};

const recordRoute: FastifyPluginCallbackZod<PromptLibraryOptions> = (app, { speech, leveller }, done) => {
  const uploads = new Uploads();
  app.post(
    '/v1/prompts',
    {
      config: { permission: 'prompts', upload: true },
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'createPrompt',
        summary: 'Record a prompt: it takes the place of the synthesized text',
        description:
          `A form with a WAV file of at most ${RECORDED_MAX_MS / 1000} s as \`file\`, the exact \`text\`, and the ` +
          '`voice` that it stands for (by default that of texts without one). It is made as loud as all other ' +
          'speech, and played where that text is said as a whole or is a sentence of an app. A recording of the ' +
          'same text and voice is replaced.',
        tags: ['speech'],
        consumes: ['multipart/form-data'],
        body: z.object({
          file: z.string().meta({ format: 'binary' }).describe('WAV'),
          text: z.string(),
          voice: z.string().optional(),
        }),
        response: { 201: promptSchema, ...errorResponses(400, 401, 403, 413, 429, 503) },
      },
    },
    async (request, reply) => {
      const end = uploads.begin();
      try {
        const { bytes, text, voice } = await readPromptForm(request);
        const resolved = await speech.calls.voices.resolve(voice === undefined ? {} : { voice });
        const sound = await leveller.level(bytes, goneSignal(reply));
        const { id, madeMs } = await speech.prompts.recorded.put({ voice: resolved.voice.name, text, sound });
        const listed = { id, madeMs, usedMs: madeMs, bytes: sound.samples.byteLength, source: 'recorded' as const };
        const [shown] = show(listed, await speech.prompts.describe(listed));
        if (shown === undefined) throw unknownPrompt();
        return reply.code(201).send(shown);
      } finally {
        end();
      }
    },
  );
  done();
};

/** Uploads under way. */
class Uploads {
  #count = 0;

  /** @returns what ends it. @throws TrunklineError `too_many_requests` */
  begin(): () => void {
    if (this.#count >= UPLOADS_MAX)
      throw new TrunklineError('too_many_requests', `${UPLOADS_MAX} recordings are being received, as many as may be`);
    this.#count++;
    return () => void this.#count--;
  }
}

/** Recordings, the latest first, then those that were used last. */
function positionOf({ source, usedMs, id }: ListedPrompt): ListPosition {
  return [source === 'recorded' ? 0 : 1, -usedMs, id];
}

/** None when it went while it was asked for. */
function show(prompt: ListedPrompt, described: PromptDescription | null): z.infer<typeof promptSchema>[] {
  if (described === null) return [];
  const { id, source, bytes, madeMs, usedMs } = prompt;
  return [
    {
      id,
      source,
      ...described,
      durationMs: Math.round(described.durationMs),
      bytes,
      madeAt: new Date(madeMs).toISOString(),
      usedAt: new Date(usedMs).toISOString(),
    },
  ];
}

function unknownPrompt(): TrunklineError {
  return new TrunklineError('prompt_not_found', 'no prompt of that id is kept, or not any more');
}
