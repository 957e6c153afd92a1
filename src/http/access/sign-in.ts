/** A user signs in once with a key or a password; the browser gets a session cookie for it. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ROLES } from '../../foundation/roles.ts';
import { errorResponses } from '../server/errors.ts';
import type { Access } from './access.ts';
import { PERMISSIONS, type Permission, permissionsOf } from './permissions.ts';

const SECRET_MAX_CHARS = 512;

const secret = z.string().max(SECRET_MAX_CHARS);
const signInBody = z.union([z.strictObject({ key: secret }), z.strictObject({ name: secret, password: secret })]);

/**
 * `POST /v1/session {key}` or `{name, password}` signs in, `DELETE /v1/session` signs out. These are the only routes of
 * /v1 that need no key in a header.
 */
export const signInRoutes: FastifyPluginCallbackZod<{ access: Access }> = (app, { access }, done) => {
  app.post(
    '/v1/session',
    {
      config: { secretBody: true, open: true },
      schema: {
        operationId: 'createSession',
        summary: 'Sign a browser in',
        description:
          'Sets a cookie (HttpOnly, SameSite=Strict, 12 hours) that gives the same access as the key, or what the ' +
          'role of the user allows. A name and a password also mark the browser (HttpOnly, a year): the same name ' +
          'gets in from there while strangers guess. It sets no cookie where there are neither API_KEYS nor users.',
        tags: ['access'],
        security: [],
        body: signInBody,
        response: { 204: z.undefined().describe('Signed in'), ...errorResponses(400, 401, 403, 429) },
      },
    },
    async (request, reply) => {
      for (const cookie of await access.signIn(request, request.body)) reply.header('set-cookie', cookie);
      return reply.code(204).send();
    },
  );

  app.delete(
    '/v1/session',
    {
      config: { open: true },
      schema: {
        operationId: 'deleteSession',
        summary: 'Sign a browser out',
        description: 'Feeds and WebSockets that it opened end too.',
        tags: ['access'],
        security: [],
        querystring: z.strictObject({
          everywhere: z
            .enum(['true', 'false'])
            .default('false')
            .describe('Also end all other sessions of the same key or name'),
        }),
        response: { 204: z.undefined().describe('Signed out'), ...errorResponses(400, 403) },
      },
    },
    async (request, reply) => {
      const everywhere = request.query.everywhere === 'true';
      return reply
        .header('set-cookie', await access.signOut(request, { everywhere }))
        .code(204)
        .send();
    },
  );
  done();
};

const whoAmI = z.object({
  name: z.string().describe("The user's name; `key-…` for one of API_KEYS, `local` where nobody signs in"),
  role: z.enum(ROLES),
  agent: z.string().nullable().describe('Of an agent: the parameter `agent` of the calls that they see'),
  session: z.boolean().describe('A session of a browser made the request; DELETE /v1/session ends it'),
  permissions: z.array(z.enum(Object.keys(PERMISSIONS) as [Permission, ...Permission[]])),
});

/** `GET /v1/session`: who one is. */
export const whoAmIRoutes: FastifyPluginCallbackZod<{ access: Access }> = (app, { access }, done) => {
  app.get(
    '/v1/session',
    {
      config: { permission: 'session' },
      schema: {
        operationId: 'getSession',
        summary: 'Who I am, and what I may do',
        tags: ['access'],
        response: { 200: whoAmI, ...errorResponses(401, 403, 429) },
      },
    },
    (request) => {
      const { name, role, agent } = access.principalOf(request);
      return { name, role, agent, session: access.hasSession(request), permissions: permissionsOf(role) };
    },
  );
  done();
};
