/** The JSON Schemas of flows, for editors: they complete names, and underline what is wrong. */
import type { FastifyPluginCallback } from 'fastify';
import { flowSchemas } from '../../flows/json-schemas.ts';

/** `GET /schemas/flow.json` and those beside it: to be registered where no key is asked for, as an editor has none. */
export const schemaRoutes: FastifyPluginCallback = (app, _options, done) => {
  for (const [file, text] of flowSchemas())
    app.get(`/schemas/${file.replace('.schema.json', '.json')}`, { schema: { hide: true } }, (_request, reply) =>
      reply.type('application/schema+json').header('cache-control', 'no-cache').send(text),
    );
  done();
};
