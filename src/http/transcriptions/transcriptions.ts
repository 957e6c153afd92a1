/** Recordings to text: OpenAI's audio API. */

import multipart from '@fastify/multipart';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { URGENCY_HEADER } from '../../protocols/remote/trunkline.ts';
import { errorResponses } from '../server/errors.ts';
import { answerTranscription, answerTranslation } from './answer.ts';
import { transcriptionAnswer } from './answer-schemas.ts';
import { isStreamed, readForm, readTranslationForm, transcriptionBody } from './fields.ts';
import { serveUpload, type TranscriptionContext, type UploadRoute } from './serve-upload.ts';
import { answerOpenAiEvents } from './stream.ts';
import { type StretchContext, Stretches, stretchUrgency } from './stretch.ts';

const text = { schema: z.string() };

const transcript = {
  description: 'The transcript as response_format says; with stream=true, events',
  content: {
    'application/json': { schema: transcriptionAnswer },
    'text/plain': text,
    'application/x-subrip': text,
    'text/vtt': text,
    'text/event-stream': text,
  },
};

/** The body is read and checked by the handler, part by part; its schema is for the description. */
const upload = {
  config: { permission: 'transcriptions', upload: true, sharedPath: true },
  validatorCompiler: () => () => true,
} as const;

const described = { tags: ['recordings'], consumes: ['multipart/form-data'], body: transcriptionBody };
const errors = errorResponses(400, 401, 403, 413, 429, 503, 507);

const TRANSCRIPTION: UploadRoute = {
  readForm,
  answer: (context, recording) =>
    isStreamed(recording.form) ? answerOpenAiEvents(context, recording) : answerTranscription(context, recording),
};
const TRANSLATION: UploadRoute = { readForm: readTranslationForm, answer: answerTranslation };

/** `POST /v1/audio/transcriptions` and `/v1/audio/translations`. */
const openAiRoutes: FastifyPluginCallbackZod<{ context: TranscriptionContext; stretches: Stretches }> = (
  app,
  { context, stretches },
  done,
) => {
  app.post(
    '/v1/audio/transcriptions',
    {
      ...upload,
      schema: {
        operationId: 'createTranscription',
        summary: 'A recording as text (OpenAI)',
        description:
          `With the header \`${URGENCY_HEADER}\`, which Trunkline sends to the servers of its ASR_URL, the file is ` +
          'a stretch of speech (WAV, 16 kHz, mono, a minute at most) that is read at once.',
        ...described,
        response: { 200: transcript, ...errors, ...errorResponses(502) },
      },
    },
    async (request, reply) => {
      const urgency = stretchUrgency(request);
      if (urgency !== null) return stretches.serve(request, reply, urgency);
      await serveUpload(context, { request, reply }, TRANSCRIPTION);
      return reply;
    },
  );

  app.post(
    '/v1/audio/translations',
    {
      ...upload,
      schema: {
        operationId: 'createTranslation',
        summary: 'A recording as text in another language (OpenAI)',
        description: 'English unless `target_language`, or `language` as the Qwen3-ASR server has it, says otherwise.',
        ...described,
        response: { 200: transcript, ...errors, ...errorResponses(502) },
      },
    },
    async (request, reply) => {
      await serveUpload(context, { request, reply }, TRANSLATION);
      return reply;
    },
  );
  done();
};

/** All routes for recordings. */
export const transcriptionRoutes: FastifyPluginCallbackZod<{ context: StretchContext }> = (app, { context }, done) => {
  void app.register(multipart);
  void app.register(openAiRoutes, { context, stretches: new Stretches(context) });
  done();
};
