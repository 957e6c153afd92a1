/** `POST /v1/demo-call`: a simulated call in this server, to see captions without a carrier. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errorResponses } from '../../http/server/errors.ts';

/** Places simulated calls. @throws TrunklineError `too_many_requests`, and whatever a call is refused with */
export interface DemoCaller {
  place(): Promise<{ callId: string }>;
}

/** The route. */
export const demoCallRoutes: FastifyPluginCallbackZod<{ demoCalls: DemoCaller }> = (app, { demoCalls }, done) => {
  app.post(
    '/v1/demo-call',
    {
      config: { permission: 'calls.make' },
      schema: {
        operationId: 'startDemoCall',
        summary: 'Run a simulated call in this server',
        description:
          'Two recorded people talk for half a minute, in real time, on a line inside the process. The call is ' +
          'admitted, captioned and kept like any other; its carrier is `demo`. At most three at once.',
        tags: ['operation'],
        response: {
          202: z.object({ callId: z.string().describe('Its id in `/v1/calls`') }),
          ...errorResponses(401, 403, 429, 503),
        },
      },
    },
    async (_request, reply) => reply.code(202).send(await demoCalls.place()),
  );
  done();
};
