/** `WS /ws/transcribe`: live audio as running text. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { toTranscriberMetrics } from '../../calls/inbound/track.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { websocketOnly } from '../../http/server/websocket-only.ts';
import type { ListenContext } from '../shared/context.ts';
import { errorOf, QWEN_ROUTE } from './route-config.ts';
import { TRANSCRIBE_MESSAGE_MAX_BYTES, TranscribeSocket } from './transcribe-socket.ts';
import { nameSocketError, readSocketQuery, SOCKET_RATE_MAX_HZ, SOCKET_RATE_MIN_HZ } from './wire/commands.ts';

const socketQuery = z.object({
  use_server_vad: z.string().optional().describe('true, 1 or yes (also where nothing is said), or false, 0 or no'),
  sample_rate: z
    .string()
    .optional()
    .describe(`Hz of the samples that will come, ${SOCKET_RATE_MIN_HZ} to ${SOCKET_RATE_MAX_HZ}; 16000 unless given`),
});

/** The route. */
export const liveRoute: FastifyPluginCallbackZod<{ context: ListenContext }> = (app, { context }, done) => {
  const { engine, settings, clock, failures, listeners, access } = context;
  const { transcribeSockets, transcribeOrders: orders } = context.metrics;
  const metrics = toTranscriberMetrics(context.metrics);
  let open = 0;
  app.route({
    method: 'GET',
    url: '/ws/transcribe',
    exposeHeadRoute: false,
    config: {
      ...QWEN_ROUTE,
      permission: 'transcriptions',
      socket: true,
      keyInUrl: true,
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
      transcribeSockets.set(++open);
      const options = { socket, request, engine, settings, clock, failures, metrics, orders };
      const stream = new TranscribeSocket({ ...options, ...query });
      listeners.enter('qwen', { owner: access.listenerOf(request), socket, session: stream });
      socket.once('close', () => transcribeSockets.set(--open));
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
    if (error instanceof TrunklineError) socket.send(JSON.stringify(nameSocketError(error, errorOf(error, request))));
    throw error;
  }
}
