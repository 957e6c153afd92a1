/** The WebSocket of a carrier that streams like Twilio. All send the same token, each in its own way. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Access } from '../../http/access/access.ts';
import { Origins } from '../../http/access/origin.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { websocketOnly } from '../../http/server/websocket-only.ts';
import type { Services } from '../../parts/services.ts';
import { flowIn, flowQuery } from './flow-query.ts';
import type { CheckSignature, OpenDialect, StreamCarrier } from './stream-carrier.ts';

interface StreamRouteOptions extends Pick<Services, 'settings' | 'registry' | 'webSockets'> {
  readonly carrier: StreamCarrier;
  readonly dialect: OpenDialect;
  /** Null = CARRIER_TOKEN is asked for. */
  readonly signature: CheckSignature | null;
  readonly access: Access;
}

/** `WS /<carrier>/media`. */
export const openStreamRoute: FastifyPluginCallbackZod<StreamRouteOptions> = (
  app,
  { settings, registry, webSockets, carrier, dialect, signature, access },
  done,
) => {
  const { name, summary, token, tokenHeader, query = {}, fillSilence = false } = carrier;
  const origins = new Origins(settings);
  const bigEndian = settings.L16_BYTE_ORDER === 'big';
  const trusted = signature !== null || settings.CARRIER_TOKEN !== '';
  const url = `/${name}/media`;
  app.route({
    method: 'GET',
    url,
    exposeHeadRoute: false,
    config: { socket: true },
    schema: {
      operationId: `open${name.charAt(0).toUpperCase()}${name.slice(1)}Media`,
      summary: `${summary}: a call's audio`,
      description:
        `With CARRIER_TOKEN where one is set: ${token}. Made from documents or sources and not yet tried against ` +
        'the real thing.',
      tags: [name],
      security: [],
      querystring: z.object({
        token: z.string().max(1024).optional().describe('CARRIER_TOKEN'),
        flow: flowQuery,
        ...query,
      }),
      response: errorResponses(400, 401, 403, 429, 503),
    },
    preValidation: async (request) => {
      if (signature !== null) signature(request, { settings, origins });
      else access.admitToken(request, settings.CARRIER_TOKEN, tokenHeader);
      registry.admit();
    },
    handler: websocketOnly(url),
    wsHandler: (socket, request) =>
      webSockets.accept(socket, dialect({ bigEndian, query: queryOf(request) }), {
        flow: flowIn(request),
        trusted,
        fillSilence,
      }),
  });
  done();
};

function queryOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  return request.query as Readonly<Record<string, unknown>>;
}
