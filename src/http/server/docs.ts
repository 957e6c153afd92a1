/** The OpenAPI description, generated from the routes' schemas, and a page that shows it. */
import { readFileSync } from 'node:fs';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { packagePath } from '../../foundation/folders/paths.ts';
import { SESSION_COOKIE } from '../access/credentials.ts';

const packageSchema = z.object({ version: z.string(), description: z.string() });

/** Collects all routes that are registered later. */
export async function describeRoutes(app: FastifyInstance): Promise<void> {
  const { version, description } = packageSchema.parse(JSON.parse(readFileSync(packagePath('package.json'), 'utf8')));
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Trunkline', version, description },
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer', description: 'One of API_KEYS' },
          session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'POST /v1/session sets it' },
        },
      },
      security: [{ key: [] }, { session: [] }],
    },
    transform: jsonSchemaTransform,
  });
}

/** The viewer sets styles from its script and draws with data: images. */
const DOCS_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; object-src " +
  "'none'; frame-ancestors 'none'";

/** `GET /docs` (a page), `/docs/json` and `/docs/yaml`. */
export const docsRoutes: FastifyPluginCallback = (app, _options, done) => {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, permission: 'docs' };
  });
  const icon = readFileSync(packagePath('src', 'http', 'page', 'icon.svg'));
  void app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: DOCS_POLICY,
    logo: { type: 'image/svg+xml', content: icon, href: '/' },
    theme: {
      title: 'Trunkline: HTTP API',
      favicon: [{ filename: 'icon.svg', rel: 'icon', sizes: 'any', type: 'image/svg+xml', content: icon }],
    },
  });
  done();
};
