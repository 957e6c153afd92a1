/** Recordings to text on the paths of the Qwen3-ASR server. */
import multipart from '@fastify/multipart';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { languageName, titleCase } from '../../foundation/languages.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { answerSubtitles } from '../../http/transcriptions/answer.ts';
import { readForm, readSubtitleForm, transcriptionBody } from '../../http/transcriptions/fields.ts';
import { warningOf } from '../../http/transcriptions/formats.ts';
import {
  serveUpload,
  type TranscriptionContext,
  type UploadedRecording,
  type UploadRoute,
} from '../../http/transcriptions/serve-upload.ts';
import { type EventForm, streamTranscript } from '../../http/transcriptions/stream.ts';
import { QWEN_ROUTE } from './route-config.ts';

/** The body is read and checked by the handler, part by part; its schema is for the description. */
const upload = {
  config: { ...QWEN_ROUTE, permission: 'transcriptions', upload: true },
  validatorCompiler: () => () => true,
} as const;

const text = { schema: z.string() };
const described = { tags: ['recordings'], consumes: ['multipart/form-data'], body: transcriptionBody };
const errors = errorResponses(400, 401, 403, 413, 422, 429, 503, 507);

/**
 * Events for texts in `language` (an English name in lower case; empty = that of each segment). A segment never changes
 * once it has been sent, so each is final.
 */
function eventsIn(language: string): EventForm {
  return {
    segment: ({ text: said, language: found = '' }, index) => ({
      text: said,
      language: titleCase(language || languageName(found)),
      is_final: true,
      chunk_index: index,
    }),
    end: (transcript) => ({
      done: true,
      ...(transcript.spokenLanguage === null && { language: null }),
      ...warningOf(transcript),
    }),
  };
}

function answerEvents(context: TranscriptionContext, recording: UploadedRecording): Promise<void> {
  const { form, languages, spoken } = recording;
  const language = languageName(form.target_language || spoken || '', languages);
  return streamTranscript(context, recording, eventsIn(language));
}

const EVENTS: UploadRoute = { readForm, answer: answerEvents };
const SUBTITLES: UploadRoute = { readForm: readSubtitleForm, answer: answerSubtitles };

/** `POST /v1/audio/transcriptions/stream` and `/v1/audio/subtitles`. */
export const recordingRoutes: FastifyPluginCallbackZod<{ context: TranscriptionContext }> = (
  app,
  { context },
  done,
) => {
  void app.register(multipart);
  app.post(
    '/v1/audio/transcriptions/stream',
    {
      ...upload,
      schema: {
        operationId: 'streamTranscription',
        summary: 'A recording as events, one for each piece of text (Qwen3-ASR server)',
        ...described,
        response: { 200: { description: 'Server-Sent Events', content: { 'text/event-stream': text } }, ...errors },
      },
    },
    async (request, reply) => {
      await serveUpload(context, { request, reply }, EVENTS);
      return reply;
    },
  );

  app.post(
    '/v1/audio/subtitles',
    {
      ...upload,
      schema: {
        operationId: 'createSubtitles',
        summary: 'A recording as SubRip subtitles (Qwen3-ASR server)',
        ...described,
        response: { 200: { description: 'SubRip', content: { 'application/x-subrip': text } }, ...errors },
      },
    },
    async (request, reply) => {
      await serveUpload(context, { request, reply }, SUBTITLES);
      return reply;
    },
  );
  done();
};
