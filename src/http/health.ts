/** Health, readiness and metrics, for supervisors, load balancers and Prometheus. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { CachedPrompts } from '../speech/speech.ts';
import type { Access } from './access/access.ts';
import { ownNames, type Recognisers, recogniserNames } from './models.ts';
import { errorResponses } from './server/errors.ts';
import { nameSchemas } from './server/named-schemas.ts';

const engine = z.object({
  state: z.enum(['stopped', 'starting', 'ready', 'failed']),
  ready: z.int().describe('Engine processes that can take work'),
  workers: z.int().describe('Engine processes that should run'),
  provider: z.string().nullable().describe('Device that runs the models: cpu or cuda; null until known'),
  devices: z.array(z.string()).readonly().describe('Where those that are ready run, each device once: cpu, cuda:0'),
  models: z.object({ asr: z.string(), vad: z.string(), tts: z.string() }).nullable(),
});

/** The state of the speech engine; `/ready` is derived from it. */
export type EngineHealth = z.infer<typeof engine>;

/** State of the process that the HTTP server reports. */
export interface GatewayHealth {
  readonly draining: boolean;
  readonly engine: EngineHealth;
  /** The engines with the second recogniser; null = there is none. */
  readonly finalEngine: Pick<EngineHealth, 'state' | 'ready' | 'workers'> | null;
  /** Why the records of calls cannot be kept, where that is for an operator to mend; null = they can. */
  readonly records: string | null;
  /** Null when no graphics processor is known. */
  readonly gpuName: string | null;
  /** Speaks texts that name no voice; null until an engine was ready. */
  readonly voice: string | null;
  /** Those that are loaded. */
  readonly recognisers: Recognisers;
  /** Decides whether a caller's turn is over; null = none does. */
  readonly turnModel: string | null;
  /** What does not keep calls out, but wants somebody: a clock that is off, a disk that fills. */
  readonly warnings: readonly string[];
}

const readiness = z.object({
  status: z.enum(['ready', 'not_ready']),
  reasons: z.array(z.string()).optional().describe('Why the server is not ready; only for admitted clients'),
  warnings: z
    .array(z.string())
    .readonly()
    .optional()
    .describe('What keeps no call out, but wants somebody; only for admitted clients'),
  engine: engine.optional().describe('Only for admitted clients'),
});

nameSchemas({ Readiness: readiness });

/** Fields for admitted clients only, named as in the Qwen3-ASR and Qwen3-TTS servers. */
const details = z
  .object({
    mode: z.literal('gateway'),
    worker_alive: z.boolean().describe('An engine process can take work; the same as model_loaded'),
    model_loaded: z.boolean().describe('All models are loaded: recogniser, voice detection and speech synthesis'),
    model_id: z.string().describe('The recogniser'),
    final_model_id: z.string().nullable().describe('The one of finals and recordings, where it is another; else null'),
    tts_model_id: z.string().describe('The speech synthesis model'),
    turn_model_id: z.string().nullable().describe("Decides whether a caller's turn is over; null = none does"),
    default_voice: z.string().nullable().describe('Speaks texts that name no voice; null until an engine was ready'),
    cuda: z.boolean().describe('The models run on CUDA'),
    gpu_name: z.string().nullable().describe('Null without CUDA, and when the driver does not report it'),
    voices: z
      .array(z.string())
      .describe(
        "All accepted voice names, including other servers' names for our voices; empty until an engine was ready",
      ),
    queue_depth: z.int().describe('Speech requests in progress'),
    max_queue_depth: z.int().describe('SPEECH_REQUESTS_MAX'),
    audio_cache_size: z.int().describe('Cached spoken sentences; POST /cache/clear removes them'),
    audio_cache_max: z.int().describe('Sentences of that size that fit into memory'),
    voice_cache_size: z.literal(0).describe('Trunkline does not clone voices'),
    voice_cache_max: z.literal(0),
    voice_cache_hits: z.literal(0),
  })
  .partial();

const healthAnswer = z.object({ status: z.literal('ok'), ...details.shape });

/** State of speech synthesis over HTTP. */
export interface SpeechHealth {
  /** Requests in progress, and their limit. */
  readonly depth: { readonly served: number; readonly max: number };
  readonly cached: CachedPrompts;
  readonly voices: readonly string[];
}

interface HealthOptions {
  readonly health: () => GatewayHealth;
  readonly speech: () => SpeechHealth;
  readonly settings: Pick<Settings, 'ASR_MODEL' | 'ASR_FINAL_MODEL' | 'TTS_MODEL'>;
  readonly access: Access;
}

/** `GET /health` and `GET /ready`. Everybody may ask; clients that are not admitted get only the status. */
export const healthRoutes: FastifyPluginCallbackZod<HealthOptions> = (app, options, done) => {
  const { health, access } = options;
  app.get(
    '/health',
    {
      config: { open: true },
      schema: {
        operationId: 'getHealth',
        summary: 'Is the process alive? Lists loaded models for admitted clients',
        description:
          'Everybody gets `status`, which is `ok` whenever there is an answer. The other fields are for admitted ' +
          'clients; their names are those of the Qwen3-ASR and Qwen3-TTS servers.',
        tags: ['operation'],
        security: [],
        response: { 200: healthAnswer },
      },
    },
    (request) => ({ status: 'ok' as const, ...(access.admits(request) && describeHealth(options)) }),
  );

  app.get(
    '/ready',
    {
      config: { open: true },
      schema: {
        operationId: 'getReadiness',
        summary: 'Can the server take calls now?',
        tags: ['operation'],
        security: [],
        response: { 200: readiness, 503: readiness },
      },
    },
    (request, reply) => {
      const now = health();
      const reasons = reasonsAgainst(now);
      const status = reasons.length === 0 ? ('ready' as const) : ('not_ready' as const);
      const details = access.admits(request) ? { reasons, warnings: now.warnings, engine: now.engine } : {};
      reply.code(status === 'ready' ? 200 : 503).send({ status, ...details });
    },
  );
  done();
};

function describeHealth({ health, speech, settings }: HealthOptions): z.infer<typeof details> {
  const { engine, gpuName, voice, recognisers, turnModel } = health();
  const { ready, provider, models } = engine;
  const { depth, cached, voices } = speech();
  const isCuda = provider === 'cuda';
  return {
    mode: 'gateway',
    worker_alive: ready > 0,
    model_loaded: ready > 0,
    model_id: models?.asr ?? recogniserNames(settings).get('live') ?? '',
    final_model_id: recognisers.final?.name ?? recogniserNames(settings).get('final') ?? null,
    tts_model_id: models?.tts ?? ownNames('voice', settings)[0] ?? '',
    turn_model_id: turnModel,
    default_voice: voice,
    cuda: isCuda,
    gpu_name: isCuda ? gpuName : null,
    voices: [...voices],
    queue_depth: depth.served,
    max_queue_depth: depth.max,
    audio_cache_size: cached.prompts,
    audio_cache_max: cached.promptsMax,
    voice_cache_size: 0,
    voice_cache_max: 0,
    voice_cache_hits: 0,
  };
}

/** An idle engine that was stopped counts as ready: it starts at the first call. */
function reasonsAgainst({ draining, records, engine: { state, ready } }: GatewayHealth): string[] {
  const reasons = draining ? ['the server is shutting down'] : [];
  if (records !== null) reasons.push(`the records cannot be kept: ${records}`);
  if (state === 'failed') reasons.push('the speech engine cannot start; the log says why');
  if (state === 'starting' && ready === 0) reasons.push('the speech engine is starting');
  return reasons;
}

/** `GET /metrics` in the Prometheus text format. */
export const metricRoutes: FastifyPluginCallbackZod<{ metrics: Metrics }> = (app, { metrics }, done) => {
  app.get(
    '/metrics',
    {
      config: { permission: 'metrics' },
      schema: {
        operationId: 'getMetrics',
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
