/** Takes a call over from its app. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallRegistry } from '../../calls/registry.ts';
import type { Access } from '../access/access.ts';
import { errorResponses } from '../server/errors.ts';
import { callPath, noQuery, refuseUnknown } from './call-schemas.ts';

interface TakeOverOptions {
  readonly calls: Pick<CallRegistry, 'muteApp'>;
  readonly access: Pick<Access, 'principalOf'>;
}

/** `POST /v1/calls/{id}/app`. */
export const takeOverRoutes: FastifyPluginCallbackZod<TakeOverOptions> = (app, { calls, access }, done) => {
  app.post(
    '/v1/calls/:id/app',
    {
      config: { permission: 'calls.act', ownedBy: 'call' },
      schema: {
        operationId: 'setCallApp',
        summary: 'Take a call over from its app, or give it back',
        description:
          'With `muted: true` what the app is saying stops, what it says from now on is passed over, it is told ' +
          'nothing of the caller, and it cannot end the call. `say`, `dtmf` and `hangup` go on working. With ' +
          '`muted: false` the app talks again, from the next words of the caller on. `app.muted` and `app.unmuted` ' +
          'in the caption feed tell of it.',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        body: z.strictObject({ muted: z.boolean() }),
        response: {
          200: z.object({ id: z.string(), appMuted: z.boolean() }),
          ...errorResponses(400, 401, 403, 404, 413, 429),
        },
      },
    },
    (request) => {
      const { id } = request.params;
      const { muted } = request.body;
      if (!calls.muteApp(id, muted, access.principalOf(request).name)) refuseUnknown('live call');
      return { id, appMuted: muted };
    },
  );
  done();
};
