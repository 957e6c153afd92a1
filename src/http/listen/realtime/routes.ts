/** OpenAI's Realtime API: `WS /v1/realtime`. https://platform.openai.com/docs/guides/realtime-transcription */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { toTranscriberMetrics } from '../../../calls/inbound/track.ts';
import type { Metrics } from '../../../foundation/metrics.ts';
import type { Listeners } from '../../../listening/listeners.ts';
import { errorResponses } from '../../server/errors.ts';
import { websocketOnly } from '../../server/websocket-only.ts';
import { type RealtimeServices, RealtimeSocket, type RealtimeStart } from './socket.ts';

/** Largest message: four seconds of PCM at 24 kHz in base64. Clients of live sound send a tenth of a second. */
const REALTIME_MESSAGE_MAX_BYTES = 262_144;
const NAME_MAX_CHARS = 256;

const query = z.object({
  intent: z
    .string()
    .max(NAME_MAX_CHARS)
    .optional()
    .describe('`transcription`: the session transcribes and answers nothing'),
  model: z
    .string()
    .max(NAME_MAX_CHARS)
    .optional()
    .describe('Kept as it came. A session without `intent` becomes one that transcribes by `session.update`'),
});

/** What the routes need. */
export interface RealtimeRoutesOptions {
  readonly services: Omit<RealtimeServices, 'metrics'> & { readonly metrics: Metrics };
  readonly listeners: Pick<Listeners, 'admit' | 'enter'>;
}

/** See above. */
export const realtimeRoutes: FastifyPluginCallbackZod<RealtimeRoutesOptions> = (app, options, done) => {
  const { listeners } = options;
  const services = { ...options.services, metrics: toTranscriberMetrics(options.services.metrics) };
  app.route({
    method: 'GET',
    url: '/v1/realtime',
    exposeHeadRoute: false,
    config: { permission: 'transcriptions', socket: true, messageMaxBytes: REALTIME_MESSAGE_MAX_BYTES },
    schema: {
      summary: 'Live audio as running text (WebSocket, OpenAI Realtime)',
      description:
        'Events of the Realtime API, one JSON object in a text message each, at most 256 KiB. Sound comes in ' +
        '`input_audio_buffer.append`: `audio/pcm` at 24000, 16000 or 8000 Hz, `audio/pcmu` or `audio/pcma`. ' +
        'What cannot be honoured is left out; `session.updated` tells what holds. Sessions count as listeners ' +
        '(LISTENERS_MAX).',
      tags: ['recordings'],
      querystring: query,
      response: errorResponses(400, 401, 403, 429, 503),
    },
    preHandler: (_request, _reply, next) => {
      listeners.admit();
      next();
    },
    handler: websocketOnly('/v1/realtime'),
    wsHandler: (socket, request) => {
      socket.once('close', listeners.enter('realtime'));
      new RealtimeSocket({ socket, request, services, start: startOf(request) }).open();
    },
  });
  done();
};

function startOf(request: FastifyRequest): RealtimeStart {
  const { intent, model = '' } = request.query as z.infer<typeof query>;
  const { 'openai-beta': header, 'sec-websocket-protocol': protocols } = request.headers;
  return {
    type: intent === 'transcription' ? 'transcription' : 'realtime',
    model,
    isBeta: /\brealtime=v1\b/.test(String(header ?? '')) || /\bopenai-beta\.realtime-v1\b/.test(protocols ?? ''),
    session: null,
  };
}
