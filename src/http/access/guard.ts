import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Forwarding } from '../forward/forwarding.ts';
import type { Access } from './access.ts';
import type { CallVisibility } from './call-visibility.ts';
import { PERMISSIONS, type Permission } from './permissions.ts';

/** Routes of one call begin like this. */
const CALL_ROUTE = /^\/v1\/calls\/:id(?:\/|$)/;
/** The permission of a route that names none. */
const UNSAID: Permission = 'administration';

const callParams = z.object({ id: z.string() });

interface GuardOptions {
  readonly access: Access;
  readonly visibility: Pick<CallVisibility, 'refuseUnseen'>;
  /** Null = there are no other gateways. */
  readonly forwarding: Pick<Forwarding, 'passOn'> | null;
}

/**
 * Guards all routes of `app`: a request needs a key or a session, then its route's permission (`config.permission`;
 * none = only admins), and on a route of a call the right to see that call, which the gateway of the call judges where
 * the request is passed on.
 */
export function guardRoutes(app: FastifyInstance, { access, visibility, forwarding }: GuardOptions): void {
  app.websocketServer.on('connection', (socket, raw) => access.openRequests.attach(raw, socket));
  app.addHook('onClose', () => access.close());
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, ...described(route.config?.permission ?? UNSAID, route.config?.ownedBy) };
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    access.admit(request);
    access.endWithProof(request, reply);
    const { url = '', config } = request.routeOptions;
    access.permit(request, config.permission ?? UNSAID, config.shortKeys);
    // The gateway of a call knows whose it is before all others do, and guards it as this one does.
    if (await forwarding?.passOn(request, reply)) return reply;
    if (CALL_ROUTE.test(url)) await visibility.refuseUnseen(request, callParams.parse(request.params).id);
    return;
  });
}

/** What the API's description says of who may use a route, and which gateway of several answers. */
function described(permission: Permission, ownedBy: string | undefined): object {
  const owner = ownedBy === undefined ? {} : { 'x-owned-by': ownedBy };
  return { 'x-permission': permission, 'x-roles': PERMISSIONS[permission], ...owner };
}
