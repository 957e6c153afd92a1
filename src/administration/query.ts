/** `POST /v1/admin/db/query`: one SELECT over a copy of the records, for `trunkline db query`. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TrunklineError } from '../foundation/errors.ts';
import type { Access } from '../http/access/access.ts';
import { errorResponses } from '../http/server/errors.ts';
import { QueryRefused, SQL_CHARS_MAX } from '../records/query/query-terms.ts';
import type { Records } from '../records/records.ts';
import { orUnavailable } from './unavailable.ts';

/** The rows. */
export const queryAnswer = z.object({
  rows: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()]))).readonly(),
  isCut: z.boolean().describe('There are more rows than are answered'),
});

interface QueryRouteOptions {
  readonly records: Records | null;
  readonly access: Pick<Access, 'principalOf'>;
}

/** The route. */
export const queryRoutes: FastifyPluginCallbackZod<QueryRouteOptions> = (app, { records, access }, done) => {
  app.post(
    '/v1/admin/db/query',
    {
      config: { permission: 'administration' },
      schema: {
        operationId: 'queryDatabase',
        summary: 'Ask the database of the records',
        description:
          'One SELECT, WITH or VALUES statement over a copy that is made for it, without the secrets of users: 1,000 ' +
          'rows, 10 s. PostgreSQL is asked with its own tools: 501.',
        tags: ['administration'],
        body: z.strictObject({ sql: z.string().min(1).max(SQL_CHARS_MAX) }),
        response: { 200: queryAnswer, ...errorResponses(400, 401, 403, 501, 503) },
      },
    },
    async (request) => {
      if (records === null) throw new TrunklineError('not_implemented', 'nothing is kept of calls: set DATA_DIR');
      const { copies, recorder, audit } = records;
      if (copies === null)
        throw new TrunklineError(
          'not_implemented',
          'PostgreSQL is asked with its own tools, or where DATABASE_URL is set',
        );
      const { name, role } = access.principalOf(request);
      audit.note({ who: name, role, action: 'records.queried', callId: null, detail: {} });
      try {
        await recorder.settled();
        return await orUnavailable(() => copies.query(request.body.sql));
      } catch (error) {
        if (error instanceof QueryRefused) throw new TrunklineError('message_malformed', error.message);
        throw error;
      }
    },
  );
  done();
};
