/** What flows say: list, listen, make ahead, and put recordings in place of texts. */
import multipart from '@fastify/multipart';
import type { FastifyReply } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { writeWav } from '../../audio/wav.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { isDiskTrouble, toDiskFull } from '../../foundation/folders/disk.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { goneSignal } from '../../http/server/gone-signal.ts';
import { nameSchemas } from '../../http/server/named-schemas.ts';
import { pageOf, pageQuery, pageSchema } from '../../http/server/pages.ts';
import { readFileForm } from '../../http/speech/prompt-form.ts';
import type { Speech } from '../../speech/speech.ts';
import type { FlowPrompts, ListedFlowPrompt } from '../prompts/flow-prompts.ts';
import { RECORDING_MAX_BYTES, RECORDING_MAX_S } from '../prompts/recording-limits.ts';

/** Each is held in memory until it is decoded. */
const UPLOADS_MAX = 2;

interface FlowPromptRoutesOptions {
  /** Null = there are no flows. */
  readonly prompts: FlowPrompts | null;
  readonly speech: Pick<Speech, 'calls'>;
}

const flowPromptSchema = z.object({
  id: z.string(),
  flow: z.string(),
  step: z.string().nullable().describe('Null: where a step fails and no other follows'),
  part: z.string().describe('`prompt`, `noInput`, `noMatch 1` …'),
  language: z.string(),
  voice: z.string().nullable().describe('Null: that of the call'),
  text: z.string().nullable(),
  recording: z.string().nullable().describe('The recording that the flow names'),
  source: z
    .enum(['recorded', 'made', 'values'])
    .describe('A recording is played; all is made ahead; or a part is made in each call, with values of variables'),
});

const renderingSchema = z.object({
  isRunning: z.boolean(),
  flows: z.int(),
  flowsDone: z.int(),
  sentences: z.int().describe('Of the flows that are done, in each codec of calls'),
  made: z.int().describe('Of them those that were not there'),
  failed: z.int().describe('Texts that could not be made'),
  ms: z.int(),
});

const recordingSchema = z.object({
  path: z.string().describe('In `FLOWS_DIR/prompts`'),
  language: z.string(),
  name: z.string(),
  durationMs: z.int().nullable(),
  error: z.string().nullable().describe('Why it is not used; null: it is'),
});

nameSchemas({ FlowPrompt: flowPromptSchema, FlowPromptRendering: renderingSchema, FlowRecording: recordingSchema });

const NOT_MADE = { isRunning: false, flows: 0, flowsDone: 0, sentences: 0, made: 0, failed: 0, ms: 0 };

/** `GET /v1/flow-prompts`, their sound, `/v1/flow-prompts/render`, and `/v1/flow-recordings`. */
export const flowPromptRoutes: FastifyPluginCallbackZod<FlowPromptRoutesOptions> = (app, options, done) => {
  const { prompts, speech } = options;
  void app.register(multipart);
  app.get(
    '/v1/flow-prompts',
    {
      config: { permission: 'prompts.read' },
      schema: {
        operationId: 'listFlowPrompts',
        summary: 'All that flows say',
        tags: ['flows'],
        querystring: pageQuery,
        response: { 200: pageSchema(flowPromptSchema), ...errorResponses(400, 401, 403, 429) },
      },
    },
    ({ query }) => {
      const listed = (prompts?.list() ?? []).map((prompt, index) => ({ ...show(prompt), index }));
      const { data, next } = pageOf(listed, ({ index, id }) => [0, index, id], query);
      return { data: data.map(({ index: _, ...prompt }) => prompt), next };
    },
  );

  app.get(
    '/v1/flow-prompts/:id/sound',
    {
      config: { permission: 'prompts.read' },
      schema: {
        operationId: 'getFlowPromptSound',
        summary: 'Listen to a prompt of a flow',
        description: 'As callers hear it, at 8 kHz. In place of values the names of their variables are said.',
        tags: ['flows'],
        params: z.object({ id: z.string().regex(/^[0-9a-f]{32}$/, 'expected the id of a prompt') }),
        response: {
          200: { description: 'WAV, 16 bit', content: { 'audio/wav': { schema: z.string().describe('The file') } } },
          ...errorResponses(400, 401, 403, 404, 429, 503),
        },
      },
    },
    async ({ params }, reply) => {
      const sound = (await prompts?.sound(params.id, speech.calls, goneSignal(reply))) ?? null;
      if (sound === null) throw new TrunklineError('prompt_not_found', 'no flow has a prompt of that id');
      // The schema is for people: what is sent are bytes.
      return (reply as FastifyReply).type('audio/wav').send(Buffer.from(writeWav([sound.samples], sound.rateHz)));
    },
  );
  void app.register(renderRoutes, options);
  void app.register(recordingRoutes, options);
  void app.register(deleteRoute, options);
  done();
};

const renderRoutes: FastifyPluginCallbackZod<FlowPromptRoutesOptions> = (app, { prompts }, done) => {
  const response = { ...errorResponses(401, 403, 429) };
  app.post(
    '/v1/flow-prompts/render',
    {
      config: { permission: 'prompts' },
      schema: {
        operationId: 'renderFlowPrompts',
        summary: 'Make what flows say, as far as it is missing',
        description: 'It is made when a flow is read, too. Ask with GET how far it is.',
        tags: ['flows'],
        response: { 202: renderingSchema, ...response },
      },
    },
    async (_request, reply) => reply.code(202).send(prompts?.render() ?? NOT_MADE),
  );
  app.get(
    '/v1/flow-prompts/render',
    {
      config: { permission: 'prompts.read' },
      schema: {
        operationId: 'getFlowPromptRendering',
        summary: 'How far it is to make what flows say',
        tags: ['flows'],
        response: { 200: renderingSchema, ...response },
      },
    },
    () => prompts?.rendering ?? NOT_MADE,
  );
  done();
};

const recordingForm = z.object({ file: z.string().meta({ format: 'binary' }), name: z.string(), language: z.string() });

const recordingRoutes: FastifyPluginCallbackZod<FlowPromptRoutesOptions> = (app, { prompts }, done) => {
  let uploads = 0;
  app.get(
    '/v1/flow-recordings',
    {
      config: { permission: 'prompts.read' },
      schema: {
        operationId: 'listFlowRecordings',
        summary: 'The recordings of flows, and what is wrong with them',
        tags: ['flows'],
        querystring: pageQuery,
        response: { 200: pageSchema(recordingSchema), ...errorResponses(400, 401, 403, 429) },
      },
    },
    ({ query }) => {
      const { data, next } = pageOf(prompts?.recordings.list() ?? [], ({ path }) => [0, 0, path], query);
      return { data: data.map(showRecording), next };
    },
  );
  app.post(
    '/v1/flow-recordings',
    {
      config: { permission: 'prompts', upload: true },
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'createFlowRecording',
        summary: 'Keep a recording that flows play by its name',
        description:
          `A form with a \`file\` (WAV, MP3, FLAC or Ogg of at most ${RECORDING_MAX_S} s), its \`name\` and ` +
          '`language`. It is written to `FLOWS_DIR/prompts`, in place of one before it.',
        tags: ['flows'],
        consumes: ['multipart/form-data'],
        body: recordingForm,
        response: { 201: recordingSchema, ...errorResponses(400, 401, 403, 404, 413, 429, 503) },
      },
    },
    async (request, reply) => {
      if (prompts === null) throw new TrunklineError('flow_not_found', 'there are no flows: FLOWS_DIR is not set');
      if (uploads >= UPLOADS_MAX)
        throw new TrunklineError(
          'too_many_requests',
          `${UPLOADS_MAX} recordings are being received, as many as may be`,
        );
      uploads++;
      try {
        const { bytes, fields } = await readFileForm(request, RECORDING_MAX_BYTES);
        const file = { bytes, name: fields.get('name') ?? '', language: fields.get('language') ?? '' };
        return reply.code(201).send(showRecording(await prompts.recordings.put(file)));
      } catch (error) {
        throw isDiskTrouble(error) ? toDiskFull(error) : explainClosed(error);
      } finally {
        uploads--;
      }
    },
  );
  done();
};

const deleteRoute: FastifyPluginCallbackZod<FlowPromptRoutesOptions> = (app, { prompts }, done) => {
  app.delete(
    '/v1/flow-recordings/:language/:name',
    {
      config: { permission: 'prompts' },
      schema: {
        operationId: 'deleteFlowRecording',
        summary: 'Delete a recording of flows',
        description: 'Its file in `FLOWS_DIR/prompts` is removed. The text beside its name is said from then on.',
        tags: ['flows'],
        params: z.object({ language: z.string(), name: z.string() }),
        response: {
          204: z.undefined().describe('Deleted'),
          ...errorResponses(400, 401, 403, 404, 429, 503),
        },
      },
    },
    async ({ params: { language, name } }, reply) => {
      try {
        if (await prompts?.recordings.delete(language, name)) return await reply.code(204).send();
      } catch (error) {
        throw isDiskTrouble(error) ? toDiskFull(error) : explainClosed(error);
      }
      throw new TrunklineError('prompt_not_found', `there is no recording ${language}/${name}`);
    },
  );
  done();
};

function show({ id, flow, step, part, language, voice, prompt, source }: ListedFlowPrompt) {
  const { text = null, recording = null } = prompt;
  return { id, flow, step, part, language, voice: prompt.voice ?? voice, text, recording, source };
}

/** Of a folder that nothing can be written to, and of one in whose place something else is. */
const CLOSED = ['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR', 'EISDIR', 'ELOOP'];

/** A folder that is mounted read-only is none of the disk's troubles. */
function explainClosed(error: unknown): unknown {
  const { code } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return code !== undefined && CLOSED.includes(code)
    ? new TrunklineError('invalid_request', `FLOWS_DIR cannot be written to (${code}): change the files there yourself`)
    : error;
}

function showRecording({ path, language, name, durationMs, error }: z.infer<typeof recordingSchema>) {
  return { path, language, name, durationMs, error };
}
