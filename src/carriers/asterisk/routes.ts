/** The WebSocket that Asterisk's chan_websocket opens for a call's audio. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallRegistry } from '../../calls/registry.ts';
import type { WebSocketCalls } from '../../calls/socket-admission.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Access } from '../../http/access/access.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { websocketOnly } from '../../http/server/websocket-only.ts';
import { flowIn, flowQuery } from '../shared/flow-query.ts';
import { AsteriskDialect } from './wire/chan-websocket.ts';

const MEDIA_PATH = '/asterisk/media';

interface AsteriskOptions {
  readonly settings: Pick<Settings, 'ASTERISK_FILL_SILENCE' | 'ASTERISK_PASSWORD' | 'ASTERISK_USER'>;
  readonly registry: Pick<CallRegistry, 'admit'>;
  readonly webSockets: WebSocketCalls;
  readonly access: Access;
}

/** `WS /asterisk/media`. */
export const asteriskRoutes: FastifyPluginCallbackZod<AsteriskOptions> = (
  app,
  { settings, registry, webSockets, access },
  done,
) => {
  const { ASTERISK_USER: user, ASTERISK_PASSWORD: password } = settings;
  app.route({
    method: 'GET',
    url: MEDIA_PATH,
    exposeHeadRoute: false,
    config: { socket: true },
    schema: {
      operationId: 'openAsteriskMedia',
      summary: "Asterisk's chan_websocket (WebSocket): a call's audio",
      description:
        'For Dial(WebSocket/…) with a connection of websocket_client.conf. With the Basic credentials of ' +
        'ASTERISK_USER and ASTERISK_PASSWORD where a password is set. Channel variables named __TRUNKLINE_… ' +
        'say who calls and how the call is to be held. Tried against Asterisk 22.10.1.',
      tags: ['asterisk'],
      security: [],
      querystring: z.object({ flow: flowQuery }),
      response: errorResponses(400, 401, 403, 429, 503),
    },
    preValidation: async (request) => {
      access.admitBasic(request, user, password);
      registry.admit();
    },
    handler: websocketOnly(MEDIA_PATH),
    wsHandler: (socket, request) =>
      webSockets.accept(socket, new AsteriskDialect(), {
        flow: flowIn(request),
        trusted: password !== '',
        fillSilence: settings.ASTERISK_FILL_SILENCE,
      }),
  });
  done();
};
