/** `/v1/admin/db`: the database of the records, for admins and `trunkline db`. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TrunklineError } from '../foundation/errors.ts';
import { errorResponses } from '../http/server/errors.ts';
import { reportOf } from '../records/database-report.ts';
import type { Records } from '../records/records.ts';
import { orUnavailable } from './unavailable.ts';

/** The answer about the database. */
export const databaseAnswer = z.object({
  kind: z.enum(['sqlite', 'postgres']),
  place: z.string().describe('The file, or the server and database'),
  sizeBytes: z.int(),
  applied: z.array(z.string()).readonly().describe('Migrations of the schema that were applied'),
  pending: z.array(z.string()).readonly().describe('Those that this server would apply; a running one has applied all'),
  calls: z.int().nullable(),
  oldestCallAt: z.string().nullable().describe('When the oldest call began'),
  backlog: z.int().describe('Events that wait to be stored'),
  retentionDays: z.int().describe('0 = calls are kept for ever'),
});

/** The answer to a request for a copy. */
export const backupAnswer = z.object({ path: z.string().describe('The new file on the machine of the server') });

interface DatabaseRouteOptions {
  readonly records: Records | null;
}

/** The routes. */
export const databaseRoutes: FastifyPluginCallbackZod<DatabaseRouteOptions> = (app, { records }, done) => {
  app.get(
    '/v1/admin/db',
    {
      config: { permission: 'administration' },
      schema: {
        operationId: 'getDatabase',
        summary: 'How the database of the records is',
        tags: ['administration'],
        response: { 200: databaseAnswer, ...errorResponses(401, 403, 501, 503) },
      },
    },
    async () => {
      const { database, recorder, retentionDays } = keptBy(records);
      const { backlog } = recorder;
      return { ...(await orUnavailable(() => reportOf(database))), backlog, retentionDays };
    },
  );
  app.post(
    '/v1/admin/db/backup',
    {
      config: { permission: 'administration' },
      schema: {
        operationId: 'createDatabaseBackup',
        summary: 'Copy the database of the records',
        description:
          'Writes a new file into `DATA_DIR/backups`, while calls go on. What was published before the request is in ' +
          'it. PostgreSQL is backed up with its own tools (`pg_dump`): 501.',
        tags: ['administration'],
        response: { 201: backupAnswer, ...errorResponses(401, 403, 501, 503) },
      },
    },
    async (_request, reply) => {
      const { recorder, copies } = keptBy(records);
      if (copies === null)
        throw new TrunklineError('not_implemented', 'PostgreSQL is backed up with its own tools, e.g. pg_dump');
      const path = await orUnavailable(async () => {
        await recorder.settled();
        return copies.make();
      });
      return reply.code(201).send({ path });
    },
  );
  done();
};

/** @throws TrunklineError `not_implemented` where nothing is kept */
export function keptBy(records: Records | null): Records {
  if (records === null) throw new TrunklineError('not_implemented', 'nothing is kept of calls: set DATA_DIR');
  return records;
}
