/**
 * The paths of the Qwen3-TTS server, so that its clients can move by changing the host. Speech is always raw 16-bit
 * samples.
 */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errorResponses } from '../../http/server/errors.ts';
import { formatEvent } from '../../http/server/server-sent-events.ts';
import { websocketOnly } from '../../http/server/websocket-only.ts';
import { base64Of } from '../../http/speech/events.ts';
import { bodyMaxBytes, requestFields, toSpeechRequest } from '../../http/speech/request.ts';
import {
  AS_AUDIO,
  AS_OPENAI_EVENTS,
  type ResponseFormat,
  type SpeechContext,
  sendSpeech,
} from '../../http/speech/send-speech.ts';
import type { ListenContext } from '../shared/context.ts';
import { QWEN_ROUTE } from './route-config.ts';
import { SpeechSocket } from './speech-socket.ts';

const eventsResponse = {
  description: '16-bit little-endian mono samples at `sample_rate` (24000), in base64 for each sentence, then `[DONE]`',
  content: { 'text/event-stream': { schema: z.string() } },
};

const pcmResponse = {
  description: '16-bit little-endian mono samples; X-PCM-Sample-Rate, X-PCM-Bit-Depth and X-PCM-Channels say so',
  content: { 'audio/pcm': { schema: z.string() } },
};

/** Server-Sent Events like the Qwen3-TTS server's. */
const AS_QWEN_EVENTS: ResponseFormat = { ...AS_OPENAI_EVENTS, wrap: toQwenEvents, failure: qwenFailure };

/** A bare line of base64 for each stretch of sound as it is made, then `[DONE]`. */
async function* toQwenEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  for await (const chunk of chunks) yield formatEvent(base64Of(chunk));
  yield formatEvent('[DONE]');
}

/** The last event when speech fails. */
function qwenFailure(failure: object): string {
  const { message = 'speech failed' } = failure as { message?: string };
  return formatEvent(`[ERROR] ${message.replaceAll(/\s+/g, ' ')}`);
}

/** `POST /v1/audio/speech/stream` and `…/stream/pcm`. */
export const speechStreamRoutes: FastifyPluginCallbackZod<{ context: SpeechContext }> = (app, { context }, done) => {
  const body = requestFields(context.inputMaxChars);
  const bodyLimit = bodyMaxBytes(context.inputMaxChars);
  const errors = errorResponses(400, 401, 403, 413, 429, 503);
  const config = { ...QWEN_ROUTE, permission: 'speech' } as const;

  app.post(
    '/v1/audio/speech/stream',
    {
      bodyLimit,
      config,
      schema: {
        operationId: 'streamSpeech',
        summary: 'Speak a text: samples in Server-Sent Events, one for each sentence',
        tags: ['speech'],
        body,
        response: { 200: eventsResponse, ...errors },
      },
    },
    async (request, reply) => {
      await sendSpeech(context, {
        request,
        reply,
        speechRequest: toSpeechRequest(request.body, 'pcm'),
        responseFormat: AS_QWEN_EVENTS,
      });
      return reply;
    },
  );

  app.post(
    '/v1/audio/speech/stream/pcm',
    {
      bodyLimit,
      config,
      schema: {
        operationId: 'streamSpeechSamples',
        summary: 'Speak a text: raw samples',
        tags: ['speech'],
        body,
        response: { 200: pcmResponse, ...errors },
      },
    },
    async (request, reply) => {
      await sendSpeech(context, {
        request,
        reply,
        speechRequest: toSpeechRequest(request.body, 'pcm'),
        responseFormat: AS_AUDIO,
      });
      return reply;
    },
  );
  done();
};

/** `WS /v1/audio/speech/ws`. */
export const speechSocketRoute: FastifyPluginCallbackZod<{ context: ListenContext }> = (app, { context }, done) => {
  const { speech, settings } = context;
  app.route({
    method: 'GET',
    url: '/v1/audio/speech/ws',
    exposeHeadRoute: false,
    config: { ...QWEN_ROUTE, permission: 'speech', socket: true },
    schema: {
      operationId: 'openSpeech',
      summary: 'Speak texts (WebSocket)',
      description:
        'Each text message is a request as for /v1/audio/speech/stream. The response is binary messages of raw ' +
        'samples, one for each sentence, and then `{"event":"done"}` or ' +
        '`{"event":"error","detail":"…","error":{…}}`. ' +
        'Requests are served one after the other.',
      tags: ['speech'],
      response: errorResponses(400, 401, 403, 429),
    },
    handler: websocketOnly('/v1/audio/speech/ws'),
    wsHandler: (socket, request) =>
      new SpeechSocket({ socket, request, context: speech, idleMs: settings.MEDIA_TIMEOUT_MS }).open(),
  });
  done();
};
