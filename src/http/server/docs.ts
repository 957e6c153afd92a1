/** The OpenAPI description, generated from the routes' schemas, and a page that shows it. */
import { readFileSync } from 'node:fs';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyContextConfig, FastifyInstance, FastifyPluginCallback } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { packagePath } from '../../foundation/folders/paths.ts';
import { SESSION_COOKIE } from '../access/credentials.ts';
import { finishDescription, OPTIONAL_BODY } from './description.ts';
import { errorSchema } from './errors.ts';
import { nameSchemas } from './named-schemas.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the body is by content type, where the schema that checks it does not say: for the description alone. */
    readonly describedBody?: Readonly<Record<string, z.ZodType>>;
  }
}

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
    transform: describeRoute,
    transformObject: (document) => finishDescription(jsonSchemaTransformObject(document)),
  });
}

nameSchemas({ ErrorBody: errorSchema });

const OPEN_SOCKET = { type: 'null', description: 'The WebSocket is open' } as const;

type RouteDocument = Parameters<typeof jsonSchemaTransform>[0];
type RouteSchema = ReturnType<typeof jsonSchemaTransform>['schema'];

/** A route as its schema and its configuration say it is. */
function describeRoute(document: RouteDocument): { schema: RouteSchema; url: string } {
  const { config = {} } = document.route;
  const { schema, url } = jsonSchemaTransform({ ...document, schema: withErrorsOf(config, document.schema) });
  if (schema?.hide === true) return { schema, url };
  const response = config.socket === true ? { 101: OPEN_SOCKET, ...(schema.response as object) } : schema.response;
  const marks = {
    ...(config.socket === true && { 'x-websocket': true }),
    ...(isOptional(document.schema?.body) && { [OPTIONAL_BODY]: true }),
  };
  return { schema: { ...schema, ...marks, response, body: describedBody(document) ?? schema.body }, url };
}

function isOptional(body: unknown): boolean {
  return body instanceof z.ZodType && body.safeParse(undefined).success;
}

/** The schema with the errors that clients of the route's protocol expect. */
function withErrorsOf(config: FastifyContextConfig, schema: RouteDocument['schema']): RouteDocument['schema'] {
  const error = config.errorBody;
  if (error === undefined || !schema?.response) return schema;
  const answers = Object.entries(schema.response);
  return {
    ...schema,
    response: Object.fromEntries(answers.map(([status, of]) => [status, of === errorSchema ? error : of])),
  };
}

function describedBody(document: RouteDocument): object | undefined {
  const bodies = document.route.config?.describedBody;
  if (bodies === undefined) return undefined;
  const content = Object.entries(bodies).map(([type, body]) => {
    const { schema } = jsonSchemaTransform({ ...document, schema: { body } });
    return [type, { schema: schema.body }];
  });
  return { content: Object.fromEntries(content) };
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
  const icon = readFileSync(packagePath('src', 'console', 'page', 'icon.svg'));
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
