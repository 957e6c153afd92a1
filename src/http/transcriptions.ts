/** Recordings to text: OpenAI's audio API, and the paths of the Qwen3-ASR server, so that its clients move by changing the host. */
import multipart from '@fastify/multipart';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errorResponses } from './errors.ts';
import { answerTranscription, answerTranslation, SPOKEN_LANGUAGE } from './transcriptions/answer.ts';
import { readForm, readSubtitleForm, readTranslationForm, transcriptionBody } from './transcriptions/fields.ts';
import { languageName } from './transcriptions/languages.ts';
import { type RecordingDoors, serveRecording } from './transcriptions/serve.ts';
import { OPENAI_EVENTS, QWEN_EVENTS, streamTranscript } from './transcriptions/stream.ts';

const text = { schema: z.string() };

const transcript = {
  description: 'The transcript as response_format says; with stream=true, events',
  content: {
    'application/json': { schema: z.unknown() },
    'text/plain': text,
    'application/x-subrip': text,
    'text/vtt': text,
    'text/event-stream': text,
  },
};

/** The body is read and checked by the handler, part by part; its schema is for the description. */
const upload = {
  config: { upload: true },
  validatorCompiler: () => () => true,
} as const;

const described = { tags: ['recordings'], consumes: ['multipart/form-data'], body: transcriptionBody };
const errors = errorResponses(400, 401, 403, 413, 429, 503);

/** `POST /v1/audio/transcriptions` and `/v1/audio/translations`. */
const openAiRoutes: FastifyPluginCallbackZod<{ doors: RecordingDoors }> = (app, { doors }, done) => {
  app.post(
    '/v1/audio/transcriptions',
    { ...upload, schema: { summary: 'A recording as text (OpenAI)', ...described, response: { 200: transcript, ...errors } } },
    async (request, reply) => {
      await serveRecording(doors, { request, reply, read: readForm }, async (order) => {
        if (order.form.stream) return streamTranscript(doors.failures, { request, reply, order }, OPENAI_EVENTS);
        const { contentType, body } = await answerTranscription(order, doors.translator);
        reply.type(contentType).send(body);
      });
      return reply;
    },
  );

  app.post(
    '/v1/audio/translations',
    {
      ...upload,
      schema: {
        summary: 'A recording as text in another language (OpenAI)',
        description: 'English unless `target_language`, or `language` as the Qwen3-ASR server has it, says otherwise.',
        ...described,
        response: { 200: transcript, ...errors, ...errorResponses(502) },
      },
    },
    async (request, reply) => {
      await serveRecording(doors, { request, reply, read: readTranslationForm }, async (order) => {
        const target = languageName(order.form.target_language || SPOKEN_LANGUAGE);
        const { contentType, body } = await answerTranslation(order, { translator: doors.translator, target });
        reply.type(contentType).send(body);
      });
      return reply;
    },
  );
  done();
};

/** `POST /v1/audio/transcriptions/stream` and `/v1/audio/subtitles`. */
const qwenRoutes: FastifyPluginCallbackZod<{ doors: RecordingDoors }> = (app, { doors }, done) => {
  app.post(
    '/v1/audio/transcriptions/stream',
    {
      ...upload,
      schema: {
        summary: 'A recording as events, one for each piece of text (Qwen3-ASR server)',
        ...described,
        response: { 200: { description: 'Server-Sent Events', content: { 'text/event-stream': text } }, ...errors },
      },
    },
    async (request, reply) => {
      await serveRecording(doors, { request, reply, read: readForm }, (order) =>
        streamTranscript(doors.failures, { request, reply, order }, QWEN_EVENTS),
      );
      return reply;
    },
  );

  app.post(
    '/v1/audio/subtitles',
    {
      ...upload,
      schema: {
        summary: 'A recording as SubRip subtitles (Qwen3-ASR server)',
        ...described,
        response: { 200: { description: 'SubRip', content: { 'application/x-subrip': text } }, ...errors },
      },
    },
    async (request, reply) => {
      await serveRecording(doors, { request, reply, read: readSubtitleForm }, async (order) => {
        const { contentType, body } = await answerTranscription(order, doors.translator);
        reply.type(contentType).header('content-disposition', 'attachment; filename="subtitles.srt"').send(body);
      });
      return reply;
    },
  );
  done();
};

/** Every door that takes a recording. */
export const transcriptionRoutes: FastifyPluginCallbackZod<{ doors: RecordingDoors }> = (app, { doors }, done) => {
  void app.register(multipart);
  void app.register(openAiRoutes, { doors });
  void app.register(qwenRoutes, { doors });
  done();
};
