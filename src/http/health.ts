/** For supervisors, load balancers and Prometheus. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Metrics } from '../metrics.ts';
import type { Access } from './access.ts';
import { errorResponses } from './errors.ts';

const engine = z.object({
  state: z.enum(['stopped', 'starting', 'ready', 'failed']),
  ready: z.int().describe('Engine processes that can take work'),
  workers: z.int().describe('Engine processes there should be'),
  provider: z.string().nullable().describe('Where models run: cpu or cuda; null until known'),
  models: z.object({ asr: z.string(), vad: z.string(), tts: z.string() }).nullable(),
});

/** How the speech engine is; see `/ready` for what follows from it. */
export type EngineHealth = z.infer<typeof engine>;

/** What the server must know of the process around it. */
export interface GatewayHealth {
  readonly draining: boolean;
  readonly engine: EngineHealth;
}

const readiness = z.object({
  status: z.enum(['ready', 'not_ready']),
  reasons: z.array(z.string()).optional().describe('Why not; only with access'),
  engine: engine.optional().describe('Only with access'),
});

interface HealthOptions {
  readonly health: () => GatewayHealth;
  readonly access: Access;
}

/** `GET /health` and `GET /ready`, open to everybody; who has no access learns the status alone. */
export const healthRoutes: FastifyPluginCallbackZod<HealthOptions> = (app, { health, access }, done) => {
  app.get(
    '/health',
    {
      config: { open: true },
      schema: {
        summary: 'Is the process alive?',
        tags: ['operation'],
        security: [],
        response: { 200: z.object({ status: z.literal('ok') }) },
      },
    },
    () => ({ status: 'ok' as const }),
  );

  app.get(
    '/ready',
    {
      config: { open: true },
      schema: {
        summary: 'Can it take calls now?',
        tags: ['operation'],
        security: [],
        response: { 200: readiness, 503: readiness },
      },
    },
    (request, reply) => {
      const now = health();
      const reasons = reasonsAgainst(now);
      const status = reasons.length === 0 ? ('ready' as const) : ('not_ready' as const);
      const details = access.admits(request) ? { reasons, engine: now.engine } : {};
      reply.code(status === 'ready' ? 200 : 503).send({ status, ...details });
    },
  );
  done();
};

/** An engine that was stopped for want of work starts at the first call: that is ready. */
function reasonsAgainst({ draining, engine: { state, ready } }: GatewayHealth): string[] {
  const reasons = draining ? ['the gateway is shutting down'] : [];
  if (state === 'failed') reasons.push('the speech engine cannot start; the log says why');
  if (state === 'starting' && ready === 0) reasons.push('the speech engine is starting');
  return reasons;
}

/** `GET /metrics` in the Prometheus text format. */
export const metricRoutes: FastifyPluginCallbackZod<{ metrics: Metrics }> = (app, { metrics }, done) => {
  app.get(
    '/metrics',
    {
      schema: {
        summary: 'Prometheus metrics',
        tags: ['operation'],
        response: {
          200: { description: 'Prometheus text format', content: { 'text/plain': { schema: z.string() } } },
          ...errorResponses(401, 403, 429),
        },
      },
    },
    async (_request, reply) => {
      reply.type(metrics.registry.contentType);
      return metrics.registry.metrics();
    },
  );
  done();
};
