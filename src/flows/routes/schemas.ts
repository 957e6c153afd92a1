/** The JSON Schemas of flows, for editors: they complete names, and underline what is wrong. */
import type { FastifyPluginCallback } from 'fastify';

const FILES = ['flow', 'flow-test', 'flow-numbers'];

/** `GET /schemas/flow.json` and those beside it: to be registered where no key is asked for, as an editor has none. */
export const schemaRoutes: FastifyPluginCallback = (app, _options, done) => {
  for (const file of FILES)
    app.get(`/schemas/${file}.json`, { config: { open: true }, schema: { hide: true } }, async (_request, reply) => {
      const { flowSchemas } = await import('../json-schemas.ts');
      const text = flowSchemas().get(`${file}.schema.json`);
      return reply.type('application/schema+json').header('cache-control', 'no-cache').send(text);
    });
  done();
};
