/** The stored events of one call. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallVisibility } from '../access/call-visibility.ts';
import { errorResponses } from '../server/errors.ts';
import { pageQuery } from '../server/pages.ts';
import type { CallDirectory } from './call-directory.ts';
import { readSearchCursor, searchCursor } from './call-query.ts';
import { callPath } from './call-schemas.ts';
import { feedEvent } from './event-schemas.ts';

const entries = {
  description:
    'The events of the call as `{id, event}`, in the order of their publication: all but partial captions and ' +
    '`speech.*`. `id` is that of the feed',
  content: {
    'application/json': {
      schema: z.object({
        data: z.array(z.object({ id: z.string(), event: feedEvent })),
        next: z.string().nullable(),
      }),
    },
  },
};

/** `GET /v1/calls/{id}/events`. */
export const callEventRoutes: FastifyPluginCallbackZod<{
  directory: CallDirectory;
  visibility: Pick<CallVisibility, 'readerOf'>;
}> = (app, { directory, visibility }, done) => {
  app.get(
    '/v1/calls/:id/events',
    {
      config: { permission: 'calls.read', audit: 'events.read', ownedBy: 'call', storedToo: true },
      schema: {
        operationId: 'listCallEvents',
        summary: 'All that happened in a call',
        tags: ['calls'],
        params: callPath,
        querystring: pageQuery,
        response: { 200: entries, ...errorResponses(400, 401, 403, 404, 429, 501, 507) },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query;
      const { calls } = directory.records('the events of a call');
      const { id } = await directory.get(request.params.id);
      await directory.settle();
      const found = await calls.events(id, { after: readSearchCursor(cursor) ?? 0, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      const next = last === undefined ? null : searchCursor(last.position);
      // They are JSON already, and a page of them need not be made twice.
      const { shown } = visibility.readerOf(request);
      const data = page.map(shown).map((entry) => `{"id":${JSON.stringify(entry.id)},"event":${entry.json}}`);
      const body = `{"data":[${data.join(',')}],"next":${JSON.stringify(next)}}`;
      return reply.type('application/json; charset=utf-8').send(body as never);
    },
  );
  done();
};
