/** What was said in a call, as JSON, text or subtitles. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  formatTranscript,
  sortByTime,
  TRANSCRIPT_TEXT_FORMATS,
  type TranscriptItem,
} from '../../calls/feed/transcript.ts';
import { errorResponses } from '../server/errors.ts';
import { callPath, refuseUnknown, track } from './call-schemas.ts';

const caption = z.object({
  kind: z.literal('caption'),
  track,
  utterance: z.int().describe('Number of the utterance on its track, counted from 1'),
  version: z.int().optional().describe('From 2, where a revision replaced the text of the final caption'),
  text: z.string(),
  startMs: z.number(),
  endMs: z.number(),
  confidence: z.number().optional().describe('Share of its words, 0 to 1, that may be expected to be right'),
  lowConfidence: z.literal(true).optional().describe('The confidence is below 0.5'),
  language: z.null().optional().describe('Probably said in no language that the recogniser understands'),
});

const gap = z
  .object({
    kind: z.literal('gap'),
    track,
    startMs: z.number(),
    endMs: z.number(),
    reason: z
      .enum(['engine', 'overload', 'shutdown', 'error', 'media', 'limit'])
      .describe('As in the event `gap`; `limit`: the call had more captions than are kept'),
  })
  .describe('A stretch without a caption');

const TRANSCRIPT_FORMATS = ['json', ...TRANSCRIPT_TEXT_FORMATS] as const;

const CONTENT_TYPES: Readonly<Record<(typeof TRANSCRIPT_FORMATS)[number], string>> = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
};

const transcript = {
  description:
    'The final captions so far with their latest text, and the stretches that have none, in the order of their ' +
    'start. In text and subtitles such a stretch reads `[missing]`. Readers ignore items of a `kind` that ' +
    'they do not know',
  content: {
    'application/json': { schema: z.object({ data: z.array(z.discriminatedUnion('kind', [caption, gap])) }) },
    'text/plain': { schema: z.string() },
    'application/x-subrip': { schema: z.string() },
    'text/vtt': { schema: z.string() },
  },
};

/** Where transcripts come from. */
export interface TranscriptSource {
  /** Undefined = no such call. */
  transcript(id: string): readonly TranscriptItem[] | undefined;
}

/** `GET /v1/calls/{id}/transcript`. */
export const transcriptRoutes: FastifyPluginCallbackZod<{ calls: TranscriptSource }> = (app, { calls }, done) => {
  app.get(
    '/v1/calls/:id/transcript',
    {
      config: { permission: 'calls.read' },
      schema: {
        summary: 'The final captions of a call so far',
        tags: ['calls'],
        params: callPath,
        querystring: z.strictObject({ format: z.enum(TRANSCRIPT_FORMATS).default('json') }),
        response: { 200: transcript, ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    (request, reply) => {
      const items = calls.transcript(request.params.id) ?? refuseUnknown('call');
      const { format } = request.query;
      reply.type(CONTENT_TYPES[format]);
      reply.send(format === 'json' ? toJson(items) : formatTranscript(items, format));
    },
  );
  done();
};

/** A transcript may hold thousands of items, which fastify's serializer would check one by one. */
function toJson(items: readonly TranscriptItem[]): string {
  return JSON.stringify({ data: sortByTime(items) });
}
