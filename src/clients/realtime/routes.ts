/** OpenAI's Realtime API: `WS /v1/realtime`, and the keys that browsers open it with. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { toTranscriberMetrics } from '../../calls/inbound/track.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { websocketOnly } from '../../http/server/websocket-only.ts';
import { isObject } from '../../protocols/json.ts';
import { admitting } from '../shared/admitting.ts';
import type { ListenContext } from '../shared/context.ts';
import { PassedOver } from '../shared/passed-over.ts';
import { brainOpener } from './open-brain.ts';
import { type RealtimeServices, RealtimeSocket, type RealtimeStart } from './socket.ts';
import { newSessionConfig, updateSessionConfig, writeSession } from './wire/session-config.ts';

const PATH = '/v1/realtime';
/** Largest message: four seconds of PCM at 24 kHz in base64. Clients of live sound send a tenth of a second. */
const REALTIME_MESSAGE_MAX_BYTES = 262_144;
const NAME_MAX_CHARS = 256;

/** How long a key of {@link secretRoute} lives, as at OpenAI. */
const SECRET_MIN_S = 10;
const SECRET_MAX_S = 7200;
const SECRET_DEFAULT_S = 600;
/** There is no session yet. */
const NO_SESSION_ID = 'sess_new';

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
interface RealtimeRoutesOptions {
  readonly context: ListenContext;
}

const socketRoute: FastifyPluginCallbackZod<RealtimeRoutesOptions> = (app, { context }, done) => {
  const { listeners, access, log } = context;
  const services: RealtimeServices = {
    ...context,
    metrics: toTranscriberMetrics(context.metrics),
    passedOver: new PassedOver({ log, endpoint: PATH }),
    openBrain: brainOpener(context.settings, context.clock),
  };
  app.route({
    method: 'GET',
    url: PATH,
    exposeHeadRoute: false,
    config: {
      permission: 'transcriptions',
      socket: true,
      fromAnySite: true,
      keyInUrl: true,
      messageMaxBytes: REALTIME_MESSAGE_MAX_BYTES,
    },
    schema: {
      operationId: 'openRealtime',
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
    preHandler: admitting((request) => listeners.admit(access.listenerOf(request))),
    handler: websocketOnly(PATH),
    wsHandler: (socket, request) => {
      const content = access.shortKeyContent(request);
      const session = new RealtimeSocket({ socket, request, services, start: startOf(request, content) });
      listeners.enter('realtime', { owner: access.listenerOf(request), socket, session });
      session.open();
    },
  });
  done();
};

/** @param content what the client's short-lived key says of its sessions */
function startOf(request: FastifyRequest, content: unknown): RealtimeStart {
  const { intent, model = '' } = request.query as z.infer<typeof query>;
  const { 'openai-beta': header, 'sec-websocket-protocol': protocols } = request.headers;
  return {
    type: intent === 'transcription' ? 'transcription' : 'realtime',
    model,
    isBeta: /\brealtime=v1\b/.test(String(header ?? '')) || /\bopenai-beta\.realtime-v1\b/.test(protocols ?? ''),
    session: isObject(content) ? content : null,
  };
}

const secretBody = z
  .object({
    expires_after: z
      .object({
        anchor: z.literal('created_at').optional(),
        seconds: z.int().min(SECRET_MIN_S).max(SECRET_MAX_S).default(SECRET_DEFAULT_S),
      })
      .optional(),
    session: z.record(z.string(), z.unknown()).default({}).describe('What sessions that are opened with it begin with'),
  })
  .default({ session: {} });

/** `POST /v1/realtime/client_secrets`. */
const secretRoute: FastifyPluginCallbackZod<RealtimeRoutesOptions> = (app, { context }, done) => {
  const { access, clock } = context;
  app.post(
    `${PATH}/client_secrets`,
    {
      config: { permission: 'keys.make', secretBody: true },
      schema: {
        operationId: 'createRealtimeSecret',
        summary: 'A key that lives for minutes, for a browser (OpenAI Realtime)',
        description:
          'The key stands for whoever asks for it, on routes for audio and speech alone, and sessions that are ' +
          'opened with it begin as `session` says. It holds for `expires_after.seconds` (600 unless given).',
        tags: ['recordings'],
        body: secretBody,
        response: {
          200: z.object({ value: z.string(), expires_at: z.number(), session: z.record(z.string(), z.unknown()) }),
          ...errorResponses(400, 401, 403, 429),
        },
      },
    },
    async (request) => {
      const { expires_after: { seconds = SECRET_DEFAULT_S } = {}, session } = request.body;
      const expiresAtS = Math.floor(clock.wall().getTime() / 1000) + seconds;
      const config = updateSessionConfig(newSessionConfig('realtime', ''), session);
      return {
        value: access.makeShortKey(request, seconds * 1000, session),
        expires_at: expiresAtS,
        session: writeSession(config, { id: NO_SESSION_ID, expiresAtS }),
      };
    },
  );
  done();
};

/** Both. */
export const realtimeRoutes: FastifyPluginCallbackZod<RealtimeRoutesOptions> = (app, options, done) => {
  void app.register(socketRoute, options);
  void app.register(secretRoute, options);
  done();
};
