/**
 * Recordings to text: OpenAI's audio API, and the paths of the Qwen3-ASR server, so that its clients move by changing
 * the host.
 */

import multipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { toTranscriberMetrics } from '../../calls/inbound/track.ts';
import type { Engine } from '../../engine-client/engine.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Listeners } from '../../listening/listeners.ts';
import { URGENCY_HEADER } from '../../protocols/remote/trunkline.ts';
import type { Access } from '../access/access.ts';
import { errorResponses, type Failures } from '../server/errors.ts';
import { websocketOnly } from '../server/websocket-only.ts';
import { answerSubtitles, answerTranscription, answerTranslation } from './answer.ts';
import { transcriptionAnswer } from './answer-schemas.ts';
import { readSocketQuery, SOCKET_RATE_MAX_HZ, SOCKET_RATE_MIN_HZ, toSocketError } from './commands.ts';
import { isStreamed, readForm, readSubtitleForm, readTranslationForm, transcriptionBody } from './fields.ts';
import { serveUpload, type TranscriptionContext, type UploadRoute } from './serve-upload.ts';
import { TRANSCRIBE_MESSAGE_MAX_BYTES, TranscribeSocket, type TranscribeSocketOptions } from './socket.ts';
import { answerOpenAiEvents, answerQwenEvents } from './stream.ts';
import { Stretches, stretchUrgency } from './stretch.ts';

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
  config: { permission: 'transcriptions', upload: true, qwen: 'by-model' },
  validatorCompiler: () => () => true,
} as const;

/** Of a path that only the Qwen3-ASR server has. */
const qwenUpload = { ...upload, config: { ...upload.config, qwen: 'always' } } as const;

const described = { tags: ['recordings'], consumes: ['multipart/form-data'], body: transcriptionBody };
const errors = errorResponses(400, 401, 403, 413, 429, 503, 507);
const qwenErrors = { ...errors, ...errorResponses(422) };

const TRANSCRIPTION: UploadRoute = {
  readForm,
  answer: (context, recording) =>
    isStreamed(recording.form) ? answerOpenAiEvents(context, recording) : answerTranscription(context, recording),
};
const TRANSLATION: UploadRoute = { readForm: readTranslationForm, answer: answerTranslation };
const EVENTS: UploadRoute = { readForm, answer: answerQwenEvents };
const SUBTITLES: UploadRoute = { readForm: readSubtitleForm, answer: answerSubtitles };

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

/** `POST /v1/audio/transcriptions/stream` and `/v1/audio/subtitles`. */
const qwenRoutes: FastifyPluginCallbackZod<{ context: TranscriptionContext }> = (app, { context }, done) => {
  app.post(
    '/v1/audio/transcriptions/stream',
    {
      ...qwenUpload,
      schema: {
        operationId: 'streamTranscription',
        summary: 'A recording as events, one for each piece of text (Qwen3-ASR server)',
        ...described,
        response: { 200: { description: 'Server-Sent Events', content: { 'text/event-stream': text } }, ...qwenErrors },
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
      ...qwenUpload,
      schema: {
        operationId: 'createSubtitles',
        summary: 'A recording as SubRip subtitles (Qwen3-ASR server)',
        ...described,
        response: { 200: { description: 'SubRip', content: { 'application/x-subrip': text } }, ...qwenErrors },
      },
    },
    async (request, reply) => {
      await serveUpload(context, { request, reply }, SUBTITLES);
      return reply;
    },
  );
  done();
};

const socketQuery = z.object({
  use_server_vad: z.string().optional().describe('true, 1 or yes (also where nothing is said), or false, 0 or no'),
  sample_rate: z
    .string()
    .optional()
    .describe(`Hz of the samples that will come, ${SOCKET_RATE_MIN_HZ} to ${SOCKET_RATE_MAX_HZ}; 16000 unless given`),
});

/** What the socket for live audio needs. */
export interface LiveOptions {
  readonly engine: Engine;
  readonly settings: TranscribeSocketOptions['settings'];
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: Failures;
  readonly listeners: Listeners;
}

/** `WS /ws/transcribe`. */
const socketRoute: FastifyPluginCallbackZod<{ live: LiveOptions; access: Access }> = (app, { live, access }, done) => {
  const { engine, settings, clock, failures, listeners } = live;
  const metrics = toTranscriberMetrics(live.metrics);
  let open = 0;
  app.route({
    method: 'GET',
    url: '/ws/transcribe',
    exposeHeadRoute: false,
    config: {
      permission: 'transcriptions',
      socket: true,
      keyInUrl: true,
      qwen: 'always',
      messageMaxBytes: TRANSCRIBE_MESSAGE_MAX_BYTES,
    },
    schema: {
      operationId: 'openLiveTranscription',
      summary: 'Live audio as running text (WebSocket, Qwen3-ASR server)',
      description:
        'Binary messages are 16-bit little-endian mono samples at `sample_rate`, at most 1 MiB in one; texts ' +
        'are `{"action":"flush"}`, `"reset"` or `"config"`. Answers are `{"text","is_partial","is_final"}`; ' +
        'a partial is the whole text of the utterance so far. What cannot be obeyed is answered with ' +
        '`{"code","message","statusCode","context"}`, and the socket goes on. At most LISTENERS_MAX are open, and ' +
        'none is added where the engines have no room.',
      tags: ['recordings'],
      querystring: socketQuery,
      response: errorResponses(400, 401, 403, 429, 503),
    },
    preHandler: (request, _reply, next) => {
      listeners.admit(access.listenerOf(request));
      next();
    },
    handler: websocketOnly('/ws/transcribe'),
    wsHandler: (socket, request) => {
      const query = readOrTell(socket, request);
      live.metrics.transcribeSockets.set(++open);
      const stream = new TranscribeSocket({
        socket,
        request,
        engine,
        settings,
        clock,
        failures,
        metrics,
        orders: live.metrics.transcribeOrders,
        ...query,
      });
      listeners.enter('qwen', { owner: access.listenerOf(request), socket, session: stream });
      socket.once('close', () => live.metrics.transcribeSockets.set(--open));
      stream.open();
    },
  });
  done();
};

/**
 * As the Qwen3-ASR server does, a wrong address is told by a message: many clients never see what a refused handshake
 * says. @throws what it tells
 */
function readOrTell(socket: WebSocket, request: FastifyRequest): ReturnType<typeof readSocketQuery> {
  try {
    return readSocketQuery(request.query as z.infer<typeof socketQuery>);
  } catch (error) {
    if (error instanceof TrunklineError) socket.send(JSON.stringify(toSocketError(error, request)));
    throw error;
  }
}

/** All routes for recordings, and the socket for live audio. */
export const transcriptionRoutes: FastifyPluginCallbackZod<{
  context: TranscriptionContext;
  live: LiveOptions;
  isDraining: () => boolean;
}> = (app, { context, live, isDraining }, done) => {
  void app.register(multipart);
  const { engine, settings } = live;
  const stretches = new Stretches({ ...context, engine, isDraining, settings: { ...context.settings, ...settings } });
  void app.register(openAiRoutes, { context, stretches });
  void app.register(qwenRoutes, { context });
  void app.register(socketRoute, { live, access: context.access });
  done();
};
