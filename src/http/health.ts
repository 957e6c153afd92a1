/** For supervisors, load balancers and Prometheus. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { CachedPrompts } from '../speech/speech.ts';
import type { Access } from './access/access.ts';
import { errorResponses } from './server/errors.ts';

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
  /** The graphics processor there is; null where none is known. */
  readonly gpuName: string | null;
}

const readiness = z.object({
  status: z.enum(['ready', 'not_ready']),
  reasons: z.array(z.string()).optional().describe('Why not; only with access'),
  engine: engine.optional().describe('Only with access'),
});

/** What those let in learn beside the status, by the names that clients of the Qwen3-ASR and Qwen3-TTS servers read. */
const details = z
  .object({
    mode: z.literal('gateway'),
    worker_alive: z.boolean().describe('Whether an engine process can take work; the same as model_loaded'),
    model_loaded: z.boolean().describe('All models are in the engine processes: recogniser, voice detection and voice'),
    model_id: z.string().describe('The recogniser'),
    tts_model_id: z.string().describe('What speaks'),
    cuda: z.boolean().describe('Whether models run on CUDA'),
    gpu_name: z.string().nullable().describe('Null without CUDA, and where the driver does not tell'),
    voices: z
      .array(z.string())
      .describe(
        "Every name that a voice can be asked for by, others' names for ours included; empty until an engine was ready",
      ),
    queue_depth: z.int().describe('Requests for speech that are being served'),
    max_queue_depth: z.int().describe('SPEECH_REQUESTS_MAX'),
    audio_cache_size: z.int().describe('Spoken sentences that are kept; POST /cache/clear forgets so many'),
    audio_cache_max: z
      .int()
      .describe('How many of their size can be kept: PROMPT_CACHE_BYTES and SPEECH_CACHE_BYTES together'),
    voice_cache_size: z.literal(0).describe('No voices are cloned here'),
    voice_cache_max: z.literal(0),
    voice_cache_hits: z.literal(0),
  })
  .partial();

const healthAnswer = z.object({ status: z.literal('ok'), ...details.shape });

/** What there is to tell of speech. */
export interface SpeechHealth {
  /** Requests that are being served, and how many may be. */
  readonly depth: { readonly served: number; readonly max: number };
  readonly cached: CachedPrompts;
  readonly voices: readonly string[];
}

interface HealthOptions {
  readonly health: () => GatewayHealth;
  readonly speech: () => SpeechHealth;
  readonly settings: Pick<Settings, 'ASR_MODEL' | 'TTS_MODEL'>;
  readonly access: Access;
}

/** `GET /health` and `GET /ready`, open to everybody; who has no access learns the status alone. */
export const healthRoutes: FastifyPluginCallbackZod<HealthOptions> = (app, options, done) => {
  const { health, access } = options;
  app.get(
    '/health',
    {
      config: { open: true },
      schema: {
        summary: 'Is the process alive? What is loaded, for those let in',
        description:
          'Everybody learns `status`, which is `ok` as long as there is an answer. The rest is for those let ' +
          'in, and named as the Qwen3-ASR and Qwen3-TTS servers name it.',
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

function describeHealth({ health, speech, settings }: HealthOptions): z.infer<typeof details> {
  const { engine, gpuName } = health();
  const { ready, provider, models } = engine;
  const { depth, cached, voices } = speech();
  const isCuda = provider === 'cuda';
  return {
    mode: 'gateway',
    worker_alive: ready > 0,
    model_loaded: ready > 0,
    model_id: models?.asr ?? settings.ASR_MODEL,
    tts_model_id: models?.tts ?? settings.TTS_MODEL,
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

/** An engine that was stopped for want of work starts at the first call: that is ready. */
function reasonsAgainst({ draining, engine: { state, ready } }: GatewayHealth): string[] {
  const reasons = draining ? ['the server is shutting down'] : [];
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
