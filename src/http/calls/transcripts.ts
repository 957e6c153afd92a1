/** What was said in a call, as JSON, text or subtitles. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallNames } from '../../calls/call-names.ts';
import type { CallTranscript } from '../../calls/call-transcripts.ts';
import { inOrder, type TranscriptItem } from '../../calls/feed/transcript.ts';
import {
  formatTranscript,
  speakersOf,
  TRANSCRIPT_TEXT_FORMATS,
  type TranscriptTextFormat,
} from '../../calls/feed/transcript-formats.ts';
import type { CallVisibility } from '../access/call-visibility.ts';
import { errorResponses } from '../server/errors.ts';
import { nameSchemas } from '../server/named-schemas.ts';
import { callPath, refuseUnknown, track } from './call-schemas.ts';

const times = {
  track,
  speaker: z.string().describe('Who speaks: the name of the track, or `inbound`, `outbound`, `queue`, `background`'),
  startMs: z.number(),
  endMs: z.number(),
};

const caption = z.object({
  kind: z.literal('caption'),
  ...times,
  utterance: z.int().describe('Number of the utterance on its track, counted from 1'),
  version: z.int().optional().describe('From 2, where a revision replaced the text of the final caption'),
  text: z.string(),
  confidence: z.number().optional().describe('Share of its words, 0 to 1, that may be expected to be right'),
  lowConfidence: z.literal(true).optional().describe('The confidence is below 0.5'),
  language: z
    .string()
    .nullable()
    .optional()
    .describe(
      'BCP-47, where it was named or found out; null = probably said in no language that the recogniser understands',
    ),
  background: z.literal(true).optional().describe('Said far below the level of whoever speaks into the phone'),
  queued: z.literal(true).optional().describe('Heard in a queue: a prompt, not a person'),
  name: z.string().optional().describe('Who spoke, where the other side of the call changed: its `speaker`'),
});

const spoken = z
  .object({
    kind: z.literal('spoken'),
    ...times,
    utterance: z.string(),
    text: z.string(),
    heardText: z.string().describe('The beginning of the text that was heard'),
    interrupted: z.boolean(),
  })
  .describe('What an app or the API said, as in the event `spoken`');

const keys = z
  .object({ kind: z.literal('dtmf'), ...times, digits: z.string() })
  .describe('Keys that were pressed shortly after one another');

const gap = z
  .object({
    kind: z.literal('gap'),
    ...times,
    reason: z
      .enum(['engine', 'overload', 'shutdown', 'error', 'media', 'limit', 'held'])
      .describe('As in the event `gap`; `limit`: there was more than is kept; `held`: the far side held the call'),
  })
  .describe('A stretch without a caption');

nameSchemas({ TranscriptCaption: caption, TranscriptSpoken: spoken, TranscriptKeys: keys, TranscriptGap: gap });

const TRANSCRIPT_FORMATS = ['json', ...TRANSCRIPT_TEXT_FORMATS] as const;

const CONTENT_TYPES: Readonly<Record<(typeof TRANSCRIPT_FORMATS)[number], string>> = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/jsonl; charset=utf-8',
};

const text = { schema: z.string() };

const transcript = {
  description:
    'What both sides said so far, the keys, and the stretches of which there is nothing, in the order of their ' +
    'start. In text and subtitles such a stretch reads `[missing]` or `[held]`, and what was spoken and not heard ' +
    '`[not heard: …]`. Readers ignore items of a `kind` that they do not know',
  content: {
    'application/json': {
      schema: z.object({ data: z.array(z.discriminatedUnion('kind', [caption, spoken, keys, gap])) }),
    },
    'text/plain': text,
    'application/x-subrip': text,
    'text/vtt': text,
    'text/csv': text,
    'application/jsonl': text,
  },
};

/** Where transcripts come from. */
export interface TranscriptSource {
  /** Undefined = no such call. */
  transcript(id: string): Promise<CallTranscript | undefined>;
}

/** `GET /v1/calls/{id}/transcript`. */
export const transcriptRoutes: FastifyPluginCallbackZod<{
  transcripts: TranscriptSource;
  visibility: Pick<CallVisibility, 'namesFor'>;
}> = (app, { transcripts, visibility }, done) => {
  app.get(
    '/v1/calls/:id/transcript',
    {
      config: { permission: 'calls.read', audit: 'transcript.read', ownedBy: 'call', storedToo: true },
      schema: {
        operationId: 'getCallTranscript',
        summary: 'What was said in a call so far',
        tags: ['calls'],
        params: callPath,
        querystring: z.strictObject({ format: z.enum(TRANSCRIPT_FORMATS).default('json') }),
        response: { 200: transcript, ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    async (request, reply) => {
      const { items, names } = (await transcripts.transcript(request.params.id)) ?? refuseUnknown('call');
      const namesFor = (given: CallNames): CallNames => visibility.namesFor(request, given);
      const found = { items: items.map((item) => nameFor(item, namesFor)), names: namesFor(names) };
      const { format } = request.query;
      return reply.type(CONTENT_TYPES[format]).send(format === 'json' ? toJson(found) : toText(found, format));
    },
  );
  done();
};

/** An item whose speaker has a name of its own, as whoever asks sees that. */
function nameFor(item: TranscriptItem, namesFor: (names: CallNames) => CallNames): TranscriptItem {
  if (item.kind !== 'caption' || item.name === undefined) return item;
  return { ...item, name: namesFor({ inbound: null, outbound: item.name }).outbound ?? item.name };
}

/** A transcript may hold thousands of items, which fastify's serializer would check one by one. */
function toJson({ items, names }: CallTranscript): string {
  const speakerOf = speakersOf(names);
  return JSON.stringify({ data: inOrder(items).map((item) => ({ ...item, speaker: speakerOf(item) })) });
}

function toText({ items, names }: CallTranscript, format: TranscriptTextFormat): string {
  return formatTranscript(items, format, speakersOf(names));
}
