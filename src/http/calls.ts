/** What calls there are, what was said in them, and hanging up. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallRegistry } from '../calls/registry.ts';
import { formatTranscript, TRANSCRIPT_FORMATS, type TranscriptFormat } from '../calls/transcript.ts';
import { TrunklineError } from '../errors.ts';
import { errorResponses } from './errors.ts';

const track = z.enum(['inbound', 'outbound']);

const call = z.object({
  id: z.string().describe("The carrier's name for the call, e.g. Twilio's CA…"),
  carrier: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  state: z.enum(['live', 'ended']),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  tracks: z.array(track).readonly(),
  lagMs: z.number().nullable().describe('Lag of the last caption; null before the first'),
  durationMs: z.number().describe('Audio received so far'),
});

const final = z.object({
  track,
  utterance: z.int().describe("Counts the track's utterances from 1"),
  text: z.string(),
  startMs: z.number(),
  endMs: z.number(),
});

const CONTENT_TYPES: Readonly<Record<TranscriptFormat, string>> = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
};

const params = z.object({ id: z.string() });
const noQuery = z.strictObject({});

const transcriptResponse = {
  description: 'The final captions so far, in the order of their start',
  content: {
    'application/json': { schema: z.array(final) },
    'text/plain': { schema: z.string() },
    'application/x-subrip': { schema: z.string() },
    'text/vtt': { schema: z.string() },
  },
};

type Calls = Pick<CallRegistry, 'list' | 'get' | 'finals' | 'hangup'>;

const transcriptRoutes: FastifyPluginCallbackZod<{ calls: Calls }> = (app, { calls }, done) => {
  app.get(
    '/v1/calls/:id/transcript',
    {
      schema: {
        summary: "A call's final captions so far",
        tags: ['calls'],
        params,
        querystring: z.strictObject({ format: z.enum(TRANSCRIPT_FORMATS).default('json') }),
        response: { 200: transcriptResponse, ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    (request, reply) => {
      const finals = calls.finals(request.params.id) ?? refuseUnknown('call');
      const { format } = request.query;
      reply.type(CONTENT_TYPES[format]).send(formatTranscript(finals, format));
    },
  );
  done();
};

/** `GET /v1/calls`, `GET /v1/calls/:id`, `POST /v1/calls/:id/hangup`, `GET /v1/calls/:id/transcript`. */
export const callRoutes: FastifyPluginCallbackZod<{ calls: Calls }> = (app, { calls }, done) => {
  app.get(
    '/v1/calls',
    {
      schema: {
        summary: 'Live calls and those ended lately, latest first',
        tags: ['calls'],
        querystring: noQuery,
        response: { 200: z.object({ calls: z.array(call) }), ...errorResponses(400, 401, 403, 429) },
      },
    },
    () => ({ calls: calls.list() }),
  );

  app.get(
    '/v1/calls/:id',
    {
      schema: {
        summary: 'One call',
        tags: ['calls'],
        params,
        querystring: noQuery,
        response: { 200: call, ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    (request) => calls.get(request.params.id) ?? refuseUnknown('call'),
  );

  app.post(
    '/v1/calls/:id/hangup',
    {
      schema: {
        summary: 'End a live call',
        description: 'Closes the media stream; Twilio goes on with the TwiML after <Connect>, or hangs up where none follows.',
        tags: ['calls'],
        params,
        querystring: noQuery,
        response: { 202: z.object({ id: z.string() }), ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    (request, reply) => {
      const { id } = request.params;
      if (!calls.hangup(id)) refuseUnknown('live call');
      reply.code(202).send({ id });
    },
  );

  void app.register(transcriptRoutes, { calls });
  done();
};

function refuseUnknown(what: string): never {
  throw new TrunklineError('call_not_found', `there is no ${what} of that id; GET /v1/calls lists those that are live or ended lately`);
}
