/** The JSON Schemas of flows, for editors: they complete names, and underline what is wrong. */
import type { FastifyPluginCallback } from 'fastify';
import { flowSchemas } from '../../flows/json-schemas.ts';

/** `GET /schemas/flow.json` and those beside it. They hold no data, and an editor has no key. */
export const schemaRoutes: FastifyPluginCallback = (app, _options, done) => {
  for (const [file, text] of flowSchemas())
    app.get(
      `/schemas/${file.replace('.schema.json', '.json')}`,
      { config: { open: true }, schema: { hide: true } },
      (_request, reply) => reply.type('application/schema+json').header('cache-control', 'no-cache').send(text),
    );
  done();
};
