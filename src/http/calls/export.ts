/** The calls of a search with their transcripts, as one stream. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallView } from '../../calls/call-view.ts';
import type { Clock } from '../../foundation/clock.ts';
import { abortable } from '../../foundation/database/abort.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { EXPORT_FORMATS, type ExportFormat, exportCall, exportHead } from '../../records/export/export-formats.ts';
import type { CallFilter } from '../../records/search/call-filter.ts';
import { type CallPosition, positionOf } from '../../records/search/call-lists.ts';
import { errorResponses } from '../server/errors.ts';
import { goneSignal } from '../server/gone-signal.ts';
import { sendStream } from '../speech/streamed-body.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { CallDirectory } from './call-directory.ts';
import { callFilterQuery, filterOf } from './call-query.ts';
import type { TranscriptSource } from './transcripts.ts';

/** Calls that are read at once. */
const CALLS_PER_READ = 50;
/** Exports at the same time: each keeps the database busy as long as its reader takes what comes. */
const EXPORTS_MAX = 4;

const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  text: 'text/plain; charset=utf-8',
};

const stream = { schema: z.string() };
const exported = {
  description: 'The calls, the latest first, each with what both sides said. It ends early when the server fails',
  content: { 'application/jsonl': stream, 'text/csv': stream, 'text/plain': stream },
};

interface ExportOptions {
  readonly directory: CallDirectory;
  readonly transcripts: TranscriptSource;
  readonly trail: AuditTrail;
  readonly clock: Clock;
}

/** `GET /v1/calls/export`. */
export const exportRoutes: FastifyPluginCallbackZod<ExportOptions> = (app, options, done) => {
  const { directory, trail, clock } = options;
  let open = 0;
  app.get(
    '/v1/calls/export',
    {
      config: { permission: 'calls.export' },
      schema: {
        operationId: 'exportCalls',
        summary: 'All calls of a search, with their transcripts',
        tags: ['calls'],
        querystring: callFilterQuery.extend({ format: z.enum(EXPORT_FORMATS).default('jsonl') }),
        response: { 200: exported, ...errorResponses(400, 401, 403, 429, 501) },
      },
    },
    async (request, reply) => {
      const { format, ...query } = request.query;
      const filter = filterOf(query, trail.principalOf(request));
      if (query.q !== undefined) directory.check(query.q);
      if (open >= EXPORTS_MAX)
        throw new TrunklineError('too_many_requests', `${EXPORTS_MAX} exports are running, the most allowed`);
      open += 1;
      const tally = { calls: 0 };
      const onEnd = (outcome: 'finished' | 'failed' | 'gone'): void => {
        open -= 1;
        const filters = Object.keys(query).join(' ');
        trail.note(request, 'calls.exported', null, { format, filters, calls: tally.calls, outcome });
      };
      const onFailed = (error: unknown): never => {
        onEnd('failed');
        throw error;
      };
      const headers = {
        'content-type': CONTENT_TYPES[format],
        'content-disposition': `attachment; filename="calls.${format === 'text' ? 'txt' : format}"`,
      };
      const chunks = contentOf(options, { q: query.q, filter, format, gone: goneSignal(reply) }, tally);
      // A reader that takes nothing for a minute would keep its place for ever.
      const sending = sendStream({ reply, headers, chunks, clock, onFirst: () => undefined, onFailure: () => null });
      await sending.then(onEnd, onFailed);
    },
  );
  done();
};

interface Wanted {
  readonly q: string | undefined;
  readonly filter: CallFilter;
  readonly format: ExportFormat;
  /** The reader has left. */
  readonly gone: AbortSignal;
}

/** The export call by call: the next one is read when the reader has taken the one before. */
async function* contentOf(
  { directory, transcripts }: ExportOptions,
  { q, filter, format, gone }: Wanted,
  tally: { calls: number },
): AsyncGenerator<string, void, undefined> {
  // What was said in live calls is exported as far as it is stored.
  await directory.settle().catch(() => undefined);
  const head = exportHead(format);
  if (head !== '') yield head;
  const pages = q === undefined ? listed(directory, filter, gone) : searched(directory, q, filter, gone);
  for await (const calls of pages)
    for (const call of calls) {
      const kept = await directory.asKept(call);
      if (kept === null) continue;
      const transcript = await transcripts.transcript(call.id);
      tally.calls += 1;
      yield exportCall(kept, transcript ?? { items: [], names: call.names }, format);
    }
}

type FoundPage = Awaited<ReturnType<CallDirectory['search']>>;

async function* listed(
  directory: CallDirectory,
  filter: CallFilter,
  gone: AbortSignal,
): AsyncGenerator<readonly CallView[]> {
  for (let after: CallPosition | null = null; ; ) {
    const from = { after, limit: CALLS_PER_READ };
    const calls: CallView[] = await abortable(gone, () => directory.list(filter, from));
    yield calls;
    const last = calls.at(-1);
    if (last === undefined || calls.length < CALLS_PER_READ) return;
    after = positionOf(last);
  }
}

async function* searched(
  directory: CallDirectory,
  q: string,
  filter: CallFilter,
  gone: AbortSignal,
): AsyncGenerator<readonly CallView[]> {
  for (let belowSeq: number | null = null; ; ) {
    const below: number | null = belowSeq;
    const { calls, next }: FoundPage = await abortable(gone, () =>
      directory.search(q, filter, { belowSeq: below, limit: CALLS_PER_READ }),
    );
    yield calls.map(({ view }) => view);
    if (next === null) return;
    belowSeq = next;
  }
}
