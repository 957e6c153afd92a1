/** A user types the key once; the browser gets a session cookie for it. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errorResponses } from '../server/errors.ts';
import type { Access } from './access.ts';

const KEY_MAX_CHARS = 512;

/**
 * `POST /v1/session {key}` signs in, `DELETE /v1/session` signs out. These are the only routes of /v1 that need no key
 * in a header.
 */
export const signInRoutes: FastifyPluginCallbackZod<{ access: Access }> = (app, { access }, done) => {
  app.post(
    '/v1/session',
    {
      config: { secretBody: true, open: true },
      schema: {
        summary: 'Sign a browser in',
        description:
          'Sets a cookie (HttpOnly, SameSite=Strict, 12 hours) that gives the same access as the key. It sets no ' +
          'cookie when API_KEYS is empty.',
        tags: ['access'],
        security: [],
        body: z.strictObject({ key: z.string().max(KEY_MAX_CHARS) }),
        response: { 204: z.undefined().describe('Signed in'), ...errorResponses(400, 401, 403, 429) },
      },
    },
    (request, reply) => {
      const cookie = access.signIn(request, request.body.key);
      if (cookie !== null) reply.header('set-cookie', cookie);
      reply.code(204).send();
    },
  );

  app.delete(
    '/v1/session',
    {
      config: { open: true },
      schema: {
        summary: 'Sign a browser out',
        tags: ['access'],
        security: [],
        response: { 204: z.undefined().describe('Signed out'), ...errorResponses(403) },
      },
    },
    (request, reply) => {
      reply.header('set-cookie', access.signOut(request));
      reply.code(204).send();
    },
  );
  done();
};
