/**
 * The paths of the Qwen3-TTS server, so that its clients move by changing the host. Speech here is always raw 16-bit
 * samples.
 */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';
import { errorResponses } from '../server/errors.ts';
import { AS_AUDIO, AS_QWEN_EVENTS, answer, type SpeechServices } from './answer.ts';
import { cloneRoute } from './clone.ts';
import { bodyMaxBytes, requestFields, toSpeechRequest } from './request.ts';
import { SpeechSocket } from './socket.ts';

const eventsResponse = {
  description: '16-bit little-endian mono samples at `sample_rate` (24000), in base64 for each sentence, then `[DONE]`',
  content: { 'text/event-stream': { schema: z.string() } },
};

const pcmResponse = {
  description: '16-bit little-endian mono samples; X-PCM-Sample-Rate, X-PCM-Bit-Depth and X-PCM-Channels say so',
  content: { 'audio/pcm': { schema: z.string() } },
};

const streamRoutes: FastifyPluginCallbackZod<{ doors: SpeechServices }> = (app, { doors }, done) => {
  const body = requestFields(doors.inputMaxChars);
  const bodyLimit = bodyMaxBytes(doors.inputMaxChars);
  const errors = errorResponses(400, 401, 403, 413, 429, 503);
  const config = { qwen: 'always' } as const;

  app.post(
    '/v1/audio/speech/stream',
    {
      ...{ bodyLimit, config },
      schema: {
        summary: 'Speak a text: samples in Server-Sent Events, one for each sentence',
        tags: ['speech'],
        body,
        response: { 200: eventsResponse, ...errors },
      },
    },
    async (request, reply) => {
      await answer(doors, {
        request,
        reply,
        order: toSpeechRequest(request.body, 'pcm'),
        responseFormat: AS_QWEN_EVENTS,
      });
      return reply;
    },
  );

  app.post(
    '/v1/audio/speech/stream/pcm',
    {
      ...{ bodyLimit, config },
      schema: {
        summary: 'Speak a text: raw samples',
        tags: ['speech'],
        body,
        response: { 200: pcmResponse, ...errors },
      },
    },
    async (request, reply) => {
      await answer(doors, { request, reply, order: toSpeechRequest(request.body, 'pcm'), responseFormat: AS_AUDIO });
      return reply;
    },
  );
  done();
};

const socketRoute: FastifyPluginCallbackZod<{ doors: SpeechServices; idleMs: number }> = (
  app,
  { doors, idleMs },
  done,
) => {
  app.route({
    method: 'GET',
    url: '/v1/audio/speech/ws',
    exposeHeadRoute: false,
    config: { qwen: 'always', socket: true },
    schema: {
      summary: 'Speak texts (WebSocket)',
      description:
        'Each text message is an order as for /v1/audio/speech/stream. It is answered with binary messages of raw samples, one for each sentence, and then with `{"event":"done"}`, or with `{"event":"error","detail":"…","error":{…}}`. Orders are served one after the other.',
      tags: ['speech'],
      response: errorResponses(400, 401, 403, 429),
    },
    handler: () => {
      throw new TrunklineError('invalid_request', '/v1/audio/speech/ws is for WebSockets, expected an upgrade');
    },
    wsHandler: (socket, request) => new SpeechSocket({ socket, request, doors, idleMs }).open(),
  });
  done();
};

/** `POST /v1/audio/speech/stream`, `…/stream/pcm` and `…/clone`, `WS /v1/audio/speech/ws`. */
export const qwenRoutes: FastifyPluginCallbackZod<{ doors: SpeechServices; idleMs: number }> = (app, options, done) => {
  void app.register(streamRoutes, options);
  void app.register(socketRoute, options);
  void app.register(cloneRoute);
  done();
};
