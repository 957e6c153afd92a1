/** Lists of calls, and one call, live or stored. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { abortable } from '../../foundation/database/abort.ts';
import { positionOf } from '../../records/search/call-lists.ts';
import type { CallVisibility } from '../access/call-visibility.ts';
import { errorResponses } from '../server/errors.ts';
import { goneSignal } from '../server/gone-signal.ts';
import { pageSchema } from '../server/pages.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { CallDirectory } from './call-directory.ts';
import { callListQuery, filterOf, listCursor, readListCursor, readSearchCursor, searchCursor } from './call-query.ts';
import { call, callPath, listedCall, noQuery } from './call-schemas.ts';

/** What the routes of lists need. */
interface ListRoutesOptions {
  readonly directory: CallDirectory;
  readonly visibility: Pick<CallVisibility, 'viewsOf'>;
  readonly trail: AuditTrail;
}

/** `GET /v1/calls` and `GET /v1/calls/{id}`. */
export const callListRoutes: FastifyPluginCallbackZod<ListRoutesOptions> = (app, options, done) => {
  const { directory, visibility, trail } = options;
  app.get(
    '/v1/calls',
    {
      config: { permission: 'calls.read' },
      schema: {
        operationId: 'listCalls',
        summary: 'Live calls and stored ones, the latest first',
        description:
          'Calls that are being made come first, then live ones, then those that have ended. With `q`, the calls in ' +
          'which it was said, the latest first, live or not.',
        tags: ['calls'],
        querystring: callListQuery,
        response: { 200: pageSchema(listedCall), ...errorResponses(400, 401, 403, 429, 501) },
      },
    },
    async (request, reply) => {
      const { limit, cursor, ...query } = request.query;
      const filter = filterOf(query, trail.principalOf(request));
      if (query.q !== undefined) {
        const { q } = query;
        const from = { belowSeq: readSearchCursor(cursor), limit };
        const page = await abortable(goneSignal(reply), () => directory.search(q, filter, from));
        const filters = Object.keys(query).filter((name) => name !== 'q');
        trail.note(request, 'calls.searched', null, { filters: filters.join(' '), calls: page.calls.length });
        const shown = page.calls.map((each) => ({ ...each.view, found: [...each.found] }));
        const data = visibility.viewsOf(request, shown);
        return { data, next: page.next === null ? null : searchCursor(page.next) };
      }
      const from = { after: readListCursor(cursor), limit: limit + 1 };
      const calls = await abortable(goneSignal(reply), () => directory.list(filter, from));
      const last = calls.length > limit ? calls[limit - 1] : undefined;
      const data = visibility.viewsOf(request, calls.slice(0, limit));
      return { data, next: last === undefined ? null : listCursor(positionOf(last)) };
    },
  );

  app.get(
    '/v1/calls/:id',
    {
      config: { permission: 'calls.read', audit: 'call.read', ownedBy: 'call', storedToo: true },
      schema: {
        operationId: 'getCall',
        summary: 'One call, live or stored',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        response: { 200: call, ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    async (request) => {
      const view = await directory.get(request.params.id);
      return visibility.viewsOf(request, [view])[0] ?? view;
    },
  );
  done();
};
