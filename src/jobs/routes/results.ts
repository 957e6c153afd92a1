/** The results of batches: one transcript, and all of a batch as one download. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { languageName } from '../../foundation/languages.ts';
import type { Access } from '../../http/access/access.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { withNewNames } from '../../http/server/renamed-fields.ts';
import { sendStream } from '../../http/speech/streamed-body.ts';
import { transcriptionAnswer } from '../../http/transcriptions/answer-schemas.ts';
import { OUTPUT_DEFAULTS, OUTPUT_FIELDS } from '../../http/transcriptions/fields.ts';
import { type Rendered, render } from '../../http/transcriptions/formats.ts';
import type { RecordingTranscript } from '../../recordings/transcribe.ts';
import type { BatchResults, BatchService, FileResult } from '../batch-service.ts';

/** Downloads of whole batches at the same time. */
const DOWNLOADS_MAX = 8;

/** The path of a batch. */
export const batchPath = z.object({ id: z.string().max(100) });
const filePath = batchPath.extend({ number: z.coerce.number().int().min(0) });

const asSpoken = z.enum(['true', 'false']);

const resultQuery = z.object({
  responseFormat: OUTPUT_FIELDS.responseFormat.optional().describe('As for transcriptions; default: json'),
  maxLineChars: OUTPUT_FIELDS.maxLineChars.optional().describe('Display columns of a subtitle line'),
  maxCueMs: OUTPUT_FIELDS.maxCueMs.optional().describe('Longest subtitle, in ms'),
  timestampGranularities: OUTPUT_FIELDS.timestampGranularities
    .optional()
    .describe('With verbose_json: word, segment, or both with a comma between them'),
  asSpoken: asSpoken
    .optional()
    .describe('true = what was said, not its translation; there also where only the translation failed'),
  response_format: OUTPUT_FIELDS.responseFormat.optional().meta({ deprecated: true }),
  max_line_chars: OUTPUT_FIELDS.maxLineChars.optional().meta({ deprecated: true }),
  max_cue_ms: OUTPUT_FIELDS.maxCueMs.optional().meta({ deprecated: true }),
  timestamp_granularities: OUTPUT_FIELDS.timestampGranularities.optional().meta({ deprecated: true }),
  as_spoken: asSpoken.optional().meta({ deprecated: true }),
});

/** New names by the names of before 1.0. */
const RENAMED_QUERY = {
  response_format: 'responseFormat',
  max_line_chars: 'maxLineChars',
  max_cue_ms: 'maxCueMs',
  timestamp_granularities: 'timestampGranularities',
  as_spoken: 'asSpoken',
} as const;

/** A query by the new names alone. */
type ResultQuery = Omit<z.infer<typeof resultQuery>, keyof typeof RENAMED_QUERY>;

interface ResultRoutesOptions {
  readonly batches: Pick<BatchService, 'result' | 'results'>;
  readonly access: Access;
  readonly clock: Clock;
}

/** The transcript of a file, and all of a batch as one download. */
export const resultRoutes: FastifyPluginCallbackZod<ResultRoutesOptions> = (app, options, done) => {
  const { batches, access } = options;
  void app.register(wholeRoute, options);
  app.get(
    '/v1/batches/:id/files/:number',
    {
      config: { permission: 'batches' },
      schema: {
        operationId: 'getBatchFile',
        summary: 'The transcript of a file of a batch',
        tags: ['batches'],
        params: filePath,
        querystring: resultQuery,
        response: {
          200: {
            description: 'As `responseFormat` says',
            content: { 'application/json': { schema: transcriptionAnswer }, 'text/plain': { schema: z.string() } },
          },
          ...errorResponses(400, 401, 403, 404, 409, 429, 507),
        },
      },
    },
    async (request, reply) => {
      const { id, number } = request.params;
      const query = withNewNames(request.query, RENAMED_QUERY) as ResultQuery;
      const found = await batches.result(access.tenantOf(request), id, number, query.asSpoken === 'true');
      const { contentType, body } = renderResult(found.transcript, found, query);
      reply.serializer(String).type(contentType).send(body);
      return reply;
    },
  );
  done();
};

const wholeQuery = z.strictObject({
  responseFormat: z
    .enum(['json', 'verbose_json'])
    .default('json')
    .describe('What `transcript` of each line is, as for transcriptions'),
  asSpoken: asSpoken.optional().describe('true = what was said, not its translation'),
  from: z.coerce.number().int().min(0).default(0).describe('Number of the first file: a download that broke goes on'),
});

/** `GET /v1/batches/{id}/results`. */
const wholeRoute: FastifyPluginCallbackZod<ResultRoutesOptions> = (app, { batches, access, clock }, done) => {
  let open = 0;
  app.get(
    '/v1/batches/:id/results',
    {
      config: { permission: 'batches' },
      schema: {
        operationId: 'getBatchResults',
        summary: 'All files of a batch with their transcripts, a line each',
        description:
          'In the order of their numbers: `{number, name, state, durationMs, error, transcript}`; `transcript` is ' +
          'null where there is none, or none yet. A download that broke goes on with `from`.',
        tags: ['batches'],
        params: batchPath,
        querystring: wholeQuery,
        response: {
          200: { description: 'JSON lines', content: { 'application/jsonl': { schema: z.string() } } },
          ...errorResponses(400, 401, 403, 404, 429, 507),
        },
      },
    },
    async (request, reply) => {
      const { from, responseFormat, ...query } = request.query;
      if (open >= DOWNLOADS_MAX)
        throw new TrunklineError('too_many_requests', `${DOWNLOADS_MAX} downloads are running, the most allowed`);
      open += 1;
      try {
        const where = { from, asSpoken: query.asSpoken === 'true' };
        const found = await batches.results(access.tenantOf(request), request.params.id, where);
        const headers = {
          'content-type': 'application/jsonl; charset=utf-8',
          'content-disposition': `attachment; filename="batch-${request.params.id}.jsonl"`,
        };
        const chunks = linesOf(found, { responseFormat });
        // A reader that takes nothing for a minute would keep its place for ever.
        await sendStream({ reply, headers, chunks, clock, onFirst: () => undefined, onFailure: () => null });
      } finally {
        open -= 1;
      }
    },
  );
  done();
};

async function* linesOf(found: BatchResults, query: Pick<ResultQuery, 'responseFormat'>): AsyncGenerator<string, void> {
  for await (const { file, transcript } of found.lines) {
    const { number, name, state, durationMs, error } = file;
    const made = transcript === null ? 'null' : renderResult(transcript, found, query).body;
    const known = JSON.stringify({ number, name, state, durationMs, error });
    yield `${known.slice(0, -1)},"transcript":${made}}\n`;
  }
}

function renderResult(
  transcript: RecordingTranscript,
  { isSpoken, channels, targetLanguage }: Omit<FileResult, 'transcript'>,
  query: ResultQuery,
): Rendered {
  const { spokenLanguage } = transcript;
  const spoken = spokenLanguage === null ? [] : [spokenLanguage];
  const outcome = isSpoken
    ? ({ task: 'transcribe', language: spokenLanguage && languageName(spokenLanguage) } as const)
    : ({ task: 'translate', language: languageName(targetLanguage, spoken) } as const);
  return render(
    { ...transcript, ...outcome },
    {
      channels,
      response_format: query.responseFormat ?? OUTPUT_DEFAULTS.responseFormat,
      max_line_chars: query.maxLineChars ?? OUTPUT_DEFAULTS.maxLineChars,
      max_cue_ms: query.maxCueMs ?? OUTPUT_DEFAULTS.maxCueMs,
      timestamp_granularities: query.timestampGranularities ?? [...OUTPUT_DEFAULTS.timestampGranularities],
    },
  );
}
