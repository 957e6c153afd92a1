/** What calls there are, what was said in them, and what is to be said and done in them. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallRegistry } from '../calls/registry.ts';
import { formatTranscript, TRANSCRIPT_FORMATS, type TranscriptFormat } from '../calls/transcript.ts';
import type { CallVoice } from '../calls/voice.ts';
import { TrunklineError } from '../errors.ts';
import { errorResponses } from './errors.ts';

const track = z.enum(['inbound', 'outbound']);

const call = z.object({
  id: z.string().describe("The carrier's name for the call, e.g. Twilio's CA…"),
  carrier: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  state: z.enum(['dialing', 'live', 'ended']).describe('`dialing`: Trunkline makes the call, and nobody has answered yet'),
  startedAt: z.iso.datetime().describe('While it is not answered, when it was dialled'),
  endedAt: z.iso.datetime().nullable(),
  endReason: z
    .string()
    .nullable()
    .describe('As in `call.ended`: hangup, closed, lost, timeout, error, drained, api, app, busy, unanswered, refused; null before'),
  tracks: z.array(track).readonly(),
  lagMs: z.number().nullable().describe('Lag of the last caption; null before the first'),
  durationMs: z.number().describe('Audio received so far'),
  handoffData: z.string().nullable().describe('What the app gave to whoever takes over the call, in its `end`; null = nothing'),
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

const interruptible = z
  .union([z.boolean(), z.enum(['none', 'dtmf', 'speech', 'any'])])
  .describe('What of the caller may cut it off; true = any, false = none. Any unless said otherwise, within BARGE_IN');

const say = z.strictObject({
  text: z.string().min(1),
  voice: z.string().optional().describe('A voice of the engine, or one of the names that OpenAI has for one'),
  interruptible: interruptible.optional(),
});

const heard = z.object({
  utterance: z.string(),
  text: z.string().describe('What was to be said, as far as it is known'),
  heardText: z.string().describe('What of it the caller heard, in whole words'),
  playedMs: z.number(),
});

/** The calls, as these doors use them. */
export interface Calls extends Pick<CallRegistry, 'list' | 'get' | 'finals' | 'hangup'> {
  /** Undefined = no live call of that id. */
  voice(id: string): Pick<CallVoice, 'say' | 'interrupt' | 'sendDigits'> | undefined;
}

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

const voiceRoutes: FastifyPluginCallbackZod<{ calls: Calls }> = (app, { calls }, done) => {
  const voiceOf = (id: string) => calls.voice(id) ?? refuseUnknown('live call');

  app.post(
    '/v1/calls/:id/say',
    {
      schema: {
        summary: 'Say something to the caller',
        description: 'It is said when everything asked for before has been said. `spoken` in the caption feed tells what of it was heard.',
        tags: ['calls'],
        params,
        querystring: noQuery,
        body: say,
        response: { 202: z.object({ utterance: z.string() }), ...errorResponses(400, 401, 403, 404, 413, 429) },
      },
    },
    (request, reply) => {
      const { text, voice, interruptible } = request.body;
      const options = { ...(voice === undefined ? {} : { voice }), ...(interruptible === undefined ? {} : { interruptible }) };
      reply.code(202).send({ utterance: voiceOf(request.params.id).say(text, options) });
    },
  );

  app.post(
    '/v1/calls/:id/interrupt',
    {
      schema: {
        summary: 'Fall silent at once',
        description: 'Throws away whatever is being said and waits to be said. `interrupted` is what was being said; null = nothing was.',
        tags: ['calls'],
        params,
        querystring: noQuery,
        response: { 200: z.object({ interrupted: heard.nullable() }), ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    (request) => ({ interrupted: voiceOf(request.params.id).interrupt() }),
  );

  app.post(
    '/v1/calls/:id/dtmf',
    {
      schema: {
        summary: 'Press keys',
        description: 'Their tones are played in turn with what is being said. `w` waits half a second.',
        tags: ['calls'],
        params,
        querystring: noQuery,
        body: z.strictObject({ digits: z.string().describe('1 to 100 of 0-9, *, #, A-D and w') }),
        response: { 202: z.object({ id: z.string() }), ...errorResponses(400, 401, 403, 404, 413, 429) },
      },
    },
    (request, reply) => {
      const { id } = request.params;
      voiceOf(id).sendDigits(request.body.digits);
      reply.code(202).send({ id });
    },
  );
  done();
};

/** `GET /v1/calls`, and of one call itself, `transcript`, `say`, `interrupt`, `dtmf` and `hangup`. */
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
        description:
          'Closes the media stream when everything that waits to be said has been said, after 30 seconds at the latest; asked again, at once. Twilio goes on with the TwiML after <Connect>, or hangs up where none follows.',
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
  void app.register(voiceRoutes, { calls });
  done();
};

function refuseUnknown(what: string): never {
  throw new TrunklineError('call_not_found', `there is no ${what} of that id; GET /v1/calls lists those that are live or ended lately`);
}
