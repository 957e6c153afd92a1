/**
 * The paths of the Qwen3-TTS server, so that its clients can move by changing the host. Speech is always raw 16-bit
 * samples.
 */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errorResponses } from '../server/errors.ts';
import { websocketOnly } from '../server/websocket-only.ts';
import { cloneRoute } from './clone.ts';
import { bodyMaxBytes, requestFields, toSpeechRequest } from './request.ts';
import { AS_AUDIO, AS_QWEN_EVENTS, type SpeechContext, sendSpeech } from './send-speech.ts';
import { SpeechSocket } from './socket.ts';

const eventsResponse = {
  description: '16-bit little-endian mono samples at `sample_rate` (24000), in base64 for each sentence, then `[DONE]`',
  content: { 'text/event-stream': { schema: z.string() } },
};

const pcmResponse = {
  description: '16-bit little-endian mono samples; X-PCM-Sample-Rate, X-PCM-Bit-Depth and X-PCM-Channels say so',
  content: { 'audio/pcm': { schema: z.string() } },
};

const streamRoutes: FastifyPluginCallbackZod<{ context: SpeechContext }> = (app, { context }, done) => {
  const body = requestFields(context.inputMaxChars);
  const bodyLimit = bodyMaxBytes(context.inputMaxChars);
  const errors = errorResponses(400, 401, 403, 413, 429, 503);
  const config = { permission: 'speech', qwen: 'always' } as const;

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

const socketRoute: FastifyPluginCallbackZod<{ context: SpeechContext; idleMs: number }> = (
  app,
  { context, idleMs },
  done,
) => {
  app.route({
    method: 'GET',
    url: '/v1/audio/speech/ws',
    exposeHeadRoute: false,
    config: { permission: 'speech', qwen: 'always', socket: true },
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
    wsHandler: (socket, request) => new SpeechSocket({ socket, request, context, idleMs }).open(),
  });
  done();
};

/** `POST /v1/audio/speech/stream`, `…/stream/pcm` and `…/clone`, `WS /v1/audio/speech/ws`. */
export const qwenRoutes: FastifyPluginCallbackZod<{ context: SpeechContext; idleMs: number }> = (
  app,
  options,
  done,
) => {
  void app.register(streamRoutes, options);
  void app.register(socketRoute, options);
  void app.register(cloneRoute);
  done();
};
