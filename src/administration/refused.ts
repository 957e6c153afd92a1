/** `/v1/admin/db/refused`: events that the database refused, for admins and `trunkline db refused`. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errorResponses } from '../http/server/errors.ts';
import type { Records } from '../records/records.ts';
import { keptBy } from './database.ts';
import { orUnavailable } from './unavailable.ts';

/** The answer about events that the database refused. */
export const refusedAnswer = z.object({
  events: z.int(),
  bytes: z.int().describe('Of `DATA_DIR/refused`'),
  calls: z
    .array(
      z.object({
        callId: z.string(),
        events: z.int(),
        why: z.array(z.string()).readonly().describe('SQLSTATEs, or what the database said where it has none'),
      }),
    )
    .readonly(),
});

/** The answer to the request to store them. */
export const retriedAnswer = z.object({
  stored: z.int().describe('Events that the database took now'),
  left: z.int().describe('Events that it refused again'),
});

interface RefusedRouteOptions {
  readonly records: Records | null;
}

/** The routes. */
export const refusedRoutes: FastifyPluginCallbackZod<RefusedRouteOptions> = (app, { records }, done) => {
  app.get(
    '/v1/admin/db/refused',
    {
      config: { permission: 'administration' },
      schema: {
        operationId: 'getRefusedEvents',
        summary: 'Events that the database refused',
        description: '`DATA_DIR/refused` keeps them, until they can be stored or their call is deleted.',
        tags: ['administration'],
        response: { 200: refusedAnswer, ...errorResponses(401, 403, 501) },
      },
    },
    async () => (await keptBy(records).refused?.report()) ?? { events: 0, bytes: 0, calls: [] },
  );
  app.post(
    '/v1/admin/db/refused/retry',
    {
      config: { permission: 'administration' },
      schema: {
        operationId: 'retryRefusedEvents',
        summary: 'Store the events that the database refused',
        description: 'Those that it refuses again stay in `DATA_DIR/refused`.',
        tags: ['administration'],
        response: { 200: retriedAnswer, ...errorResponses(401, 403, 501, 503) },
      },
    },
    () => orUnavailable(() => keptBy(records).retryRefused()),
  );
  done();
};
