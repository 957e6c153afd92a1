/** `/v1/batches`: many recordings as one job that outlives a restart. */
import multipart from '@fastify/multipart';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../foundation/clock.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Access } from '../../http/access/access.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { goneSignal } from '../../http/server/gone-signal.ts';
import { nameSchemas } from '../../http/server/named-schemas.ts';
import { type ListPosition, pageOf, pageQuery, pageSchema } from '../../http/server/pages.ts';
import type { Recordings } from '../../recordings/recordings.ts';
import type { BatchView } from '../batch.ts';
import type { BatchService } from '../batch-service.ts';
import { BatchEvents } from './events.ts';
import { batchBodies, type ReceiveSettings, receiveBatch } from './receive.ts';
import { batchPath, resultRoutes } from './results.ts';

/** A list of ten thousand long URLs. */
const JSON_MAX_BYTES = 8_388_608;

const batch = z.object({
  id: z.string(),
  state: z.enum(['running', 'done', 'cancelled']),
  createdAt: z.string(),
  endedAt: z.string().nullable(),
  expiresAt: z.string().nullable().describe('When it and its results are removed'),
  progress: z.number().describe('From 0 to 1; every file counts the same'),
  counts: z.object({
    total: z.number(),
    waiting: z.number(),
    running: z.number(),
    done: z.number(),
    failed: z.number(),
    cancelled: z.number(),
  }),
  webhook: z.object({ state: z.enum(['waiting', 'delivered', 'failed']), attempts: z.number() }).nullable(),
});

const file = z.object({
  number: z.number(),
  name: z.string(),
  state: z.enum(['waiting', 'running', 'done', 'failed', 'cancelled']),
  progress: z.number().describe('The part of it that has been transcribed, from 0 to 1'),
  durationMs: z.number().nullable(),
  error: z
    .object({ code: z.string(), message: z.string() })
    .nullable()
    .describe('Why it failed; disk_full while it waits for a full disk'),
});

const batchWithFiles = batch.extend({ files: z.array(file) });

nameSchemas({ Batch: batch, BatchFile: file, BatchWithFiles: batchWithFiles });

interface BatchRoutesOptions {
  readonly batches: BatchService;
  readonly recordings: Pick<Recordings, 'assertUnderstood'>;
  readonly access: Access;
  readonly clock: Clock;
  readonly settings: ReceiveSettings & Pick<Settings, 'FEED_READERS_MAX' | 'SEND_BUFFER_MAX_BYTES'>;
}

/** Newest first. */
function positionOf({ id, createdAt }: BatchView): ListPosition {
  return [0, -Date.parse(createdAt), id];
}

/** All routes of batches. */
export const batchRoutes: FastifyPluginCallbackZod<BatchRoutesOptions> = (app, options, done) => {
  const { batches, access } = options;
  void app.register(multipart);
  void app.register(createRoute, options);
  void app.register(eventRoute, options);
  void app.register(resultRoutes, options);
  const tags = ['batches'];
  app.get(
    '/v1/batches',
    {
      config: { permission: 'batches' },
      schema: {
        operationId: 'listBatches',
        summary: 'Your batches, the newest first',
        tags,
        querystring: pageQuery,
        response: { 200: pageSchema(batch), ...errorResponses(400, 401, 403, 429, 507) },
      },
    },
    async (request) => pageOf(await batches.list(access.tenantOf(request)), positionOf, request.query),
  );

  app.get(
    '/v1/batches/:id',
    {
      config: { permission: 'batches' },
      schema: {
        operationId: 'getBatch',
        summary: 'The state of a batch and of its files',
        tags,
        params: batchPath,
        response: { 200: batchWithFiles, ...errorResponses(401, 403, 404, 429, 507) },
      },
    },
    async (request) => {
      const { batch: found, files } = await batches.get(access.tenantOf(request), request.params.id);
      return { ...found, files: [...files] };
    },
  );

  app.delete(
    '/v1/batches/:id',
    {
      config: { permission: 'batches' },
      schema: {
        operationId: 'deleteBatch',
        summary: 'Cancel a batch; remove one that has ended',
        description:
          'A running batch is cancelled: the transcripts that are done stay readable. One that has ended is ' +
          'removed with its transcripts.',
        tags,
        params: batchPath,
        response: { 200: batch, ...errorResponses(401, 403, 404, 429, 507) },
      },
    },
    (request) => batches.cancel(access.tenantOf(request), request.params.id),
  );

  done();
};

/** The body is read and checked by the handler; its schema is for the description. */
const createRoute: FastifyPluginCallbackZod<BatchRoutesOptions> = (app, options, done) => {
  const { batches, recordings, access, settings } = options;
  app.post(
    '/v1/batches',
    {
      bodyLimit: JSON_MAX_BYTES,
      config: { permission: 'batches', upload: true, describedBody: batchBodies },
      schema: {
        operationId: 'createBatch',
        summary: 'Start a batch',
        description:
          'Send the recordings as parts of a multipart form, or JSON that says where they are. With the header ' +
          'Idempotency-Key a repeated request gets the batch of the first one (200, `idempotent-replayed: true`).',
        tags: ['batches'],
        consumes: ['application/json', 'multipart/form-data'],
        response: { 200: batch, 202: batch, ...errorResponses(400, 401, 403, 409, 413, 429, 503, 507) },
      },
    },
    async (request, reply) => {
      const draft = await batches.draft(access.tenantOf(request));
      try {
        const wanted = await receiveBatch(request, draft, settings);
        await recordings.assertUnderstood(wanted.language ?? '', goneSignal(reply));
        const begun = await batches.begin(draft, wanted);
        if (!begun.isNew) reply.header('idempotent-replayed', 'true');
        reply.header('location', `/v1/batches/${begun.batch.id}`).code(begun.isNew ? 202 : 200);
        return begun.batch;
      } finally {
        await batches.discard(draft);
      }
    },
  );
  done();
};

const eventRoute: FastifyPluginCallbackZod<BatchRoutesOptions> = (app, options, done) => {
  const events = new BatchEvents(options);
  app.addHook('preClose', async () => events.close());
  app.get(
    '/v1/batches/:id/events',
    {
      config: { permission: 'batches' },
      schema: {
        operationId: 'streamBatchEvents',
        summary: 'The progress of a batch (SSE)',
        description:
          'First `batch`, its state now. Then `progress` of each file in work, at most once a second, `file` ' +
          'for each ' +
          'file that has ended, and `end` with the batch, after which the stream ends.',
        tags: ['batches'],
        params: batchPath,
        response: {
          200: { description: 'Server-Sent Events', content: { 'text/event-stream': { schema: z.string() } } },
          ...errorResponses(401, 403, 404, 429, 503, 507),
        },
      },
    },
    (request, reply) => events.stream(options.access.tenantOf(request), request.params.id, reply),
  );
  done();
};
