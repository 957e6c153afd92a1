/** `GET /v1/cluster/gateway`: what a gateway answers to others that want to know whether it lives. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { PROBE_PATH, probeAnswer } from '../../cluster/probe.ts';
import type { Access } from '../access/access.ts';
import { errorResponses, routeNotFound } from '../server/errors.ts';

interface GatewayRouteOptions {
  readonly access: Pick<Access, 'isForwarded'>;
  /** Of this gateway. */
  readonly id: string;
}

/** The route. It asks no database, and is there for other gateways alone. */
export const gatewayRoute: FastifyPluginCallbackZod<GatewayRouteOptions> = (app, { access, id }, done) => {
  app.get(
    PROBE_PATH,
    {
      config: { permission: 'calls.read', ownedBy: 'asked' },
      schema: {
        operationId: 'getGateway',
        summary: 'Whether this gateway lives, for the others of its cluster',
        tags: ['operation'],
        response: { 200: probeAnswer, ...errorResponses(401, 403, 404, 429) },
      },
    },
    (request) => {
      if (!access.isForwarded(request)) throw routeNotFound(request);
      return { id };
    },
  );
  done();
};
