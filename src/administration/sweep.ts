/** `/v1/admin/db/sweep`: what is past its time, and why it is not deleted. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import { errorResponses } from '../http/server/errors.ts';
import { nameSchemas } from '../http/server/named-schemas.ts';
import type { RetentionSweeper } from '../records/retention/retention-sweeper.ts';
import { orUnavailable } from './unavailable.ts';

/** So long an answer waits for a deletion, which goes on after it. */
const ANSWER_WITHIN_MS = 2000;

const share = z.object({ due: z.int(), kept: z.int() });

/** What is past its time. */
export const sweepAnswer = z.object({
  now: z.string().describe('By the clock that deletion goes by: of PostgreSQL where records are there'),
  calls: share,
  lines: share.describe('Of the audit log'),
  held: z.string().nullable().describe('Why nothing is deleted; null = it is'),
});

nameSchemas({ Sweep: sweepAnswer });

/** The same, read. */
export type SweepAnswer = z.infer<typeof sweepAnswer>;

interface SweepRouteOptions {
  /** Null = nothing is kept of calls. */
  readonly sweeper: Pick<RetentionSweeper, 'plan' | 'goOn' | 'hold'> | null;
  readonly clock: Clock;
}

/** The routes. */
export const sweepRoutes: FastifyPluginCallbackZod<SweepRouteOptions> = (app, { sweeper, clock }, done) => {
  const look = async (): Promise<SweepAnswer> => {
    const { nowMs, calls, lines } = await orUnavailable(() => keptBy(sweeper).plan());
    return { now: new Date(nowMs).toISOString(), calls, lines, held: sweeper?.hold?.message ?? null };
  };
  app.get(
    '/v1/admin/db/sweep',
    {
      config: { permission: 'administration' },
      schema: {
        operationId: 'getSweep',
        summary: 'What of the records is past its time, and why it is not deleted',
        tags: ['administration'],
        response: { 200: sweepAnswer, ...errorResponses(401, 403, 501, 503) },
      },
    },
    look,
  );
  app.post(
    '/v1/admin/db/sweep',
    {
      config: { permission: 'administration' },
      schema: {
        operationId: 'startSweep',
        summary: 'Delete what is past its time, whatever stopped that',
        description: 'Answers with what was due. With several servers the one that deletes does so within a minute.',
        tags: ['administration'],
        response: { 202: sweepAnswer, ...errorResponses(401, 403, 501, 503) },
      },
    },
    async (_request, reply) => {
      const found = await look();
      await orUnavailable(() => settlesWithin(clock, keptBy(sweeper).goOn(), ANSWER_WITHIN_MS));
      return reply.code(202).send(found);
    },
  );
  done();
};

function keptBy<T>(sweeper: T | null): T {
  if (sweeper === null) throw new TrunklineError('not_implemented', 'nothing is kept of calls: set DATA_DIR');
  return sweeper;
}
