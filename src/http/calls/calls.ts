/** What calls there are, what was said in them, and what is to be said and done in them. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { formatTranscript, TRANSCRIPT_FORMATS, type TranscriptFormat } from '../../calls/feed/transcript.ts';
import type { CallVoice } from '../../calls/outbound/voice.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { errorResponses } from '../server/errors.ts';

const track = z.enum(['inbound', 'outbound']);

const call = z.object({
  id: z.string().describe("The carrier's name for the call, e.g. Twilio's CA…"),
  carrier: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  state: z
    .enum(['dialing', 'live', 'ended'])
    .describe('`dialing`: Trunkline makes the call, and nobody has answered yet'),
  startedAt: z.iso.datetime().describe('While it is not answered, when it was dialled'),
  endedAt: z.iso.datetime().nullable(),
  endReason: z
    .string()
    .nullable()
    .describe(
      'As in `call.ended`: hangup, closed, lost, timeout, error, drained, api, app, app_unreachable, busy, unanswered, refused; null before',
    ),
  tracks: z.array(track).readonly(),
  lagMs: z.number().nullable().describe('Lag of the last caption; null before the first'),
  durationMs: z.number().describe('How long it has lasted by its sound'),
  handoffData: z
    .string()
    .nullable()
    .describe('What the app gave to whoever takes over the call, in its `end`; null = nothing'),
});

const final = z.object({
  track,
  utterance: z.int().describe("Counts the track's utterances from 1"),
  text: z.string(),
  startMs: z.number(),
  endMs: z.number(),
});

const gap = z
  .object({
    kind: z.literal('gap'),
    track,
    utterance: z.literal(0),
    text: z.literal(''),
    startMs: z.number(),
    endMs: z.number(),
    reason: z
      .enum(['engine', 'overload', 'shutdown', 'error', 'media', 'limit'])
      .describe('As in the event `gap`; `limit`: there were captions, more than a call keeps'),
  })
  .describe('A stretch that has no caption');

const CONTENT_TYPES: Readonly<Record<TranscriptFormat, string>> = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
};

/** Whoever can make calls. */
export interface Dialer {
  /**
   * Dials and returns the call's id at once. Throws TrunklineError `dialing_unavailable`, `too_many_calls` or
   * `draining`.
   */
  dial(request: {
    readonly to: string;
    readonly from: string | null;
    readonly app: string | null;
    readonly parameters: Readonly<Record<string, string>>;
  }): Promise<{ readonly callId: string }>;
}

/** As a user of a SIP URI: digits and what dial plans add to them, or a name. */
const PARTY = /^[+*#\w.-]{1,64}$/;
const PARTY_DESCRIPTION = 'A telephone number such as +14155550100, or a name: 1 to 64 letters, digits and + * # . _ -';
const PARAMETERS_MAX = 50;

const dial = z.strictObject({
  to: z.string().regex(PARTY, PARTY_DESCRIPTION).describe(PARTY_DESCRIPTION),
  from: z
    .string()
    .regex(PARTY, PARTY_DESCRIPTION)
    .optional()
    .describe('Who calls, as far as the trunk allows; SIP_USER unless said otherwise'),
  app: z
    .url({ protocol: /^wss?$/ })
    .optional()
    .describe('The app that is to talk; APP_URL unless said otherwise'),
  parameters: z
    .record(z.string().min(1).max(64), z.string().max(1024))
    .refine((list) => Object.keys(list).length <= PARAMETERS_MAX, `at most ${PARAMETERS_MAX} parameters`)
    .optional()
    .describe(
      'As a carrier would give them with the call: bargeIn, welcomeGreeting, voice …, and what the app is to be told',
    ),
});

const params = z.object({ id: z.string() });
const noQuery = z.strictObject({});

const transcriptResponse = {
  description:
    'The final captions so far, and the stretches that have none, in the order of their start. In text and subtitles those read `[missing]`',
  content: {
    'application/json': { schema: z.array(z.union([final, gap])) },
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
export interface Calls extends Pick<CallRegistry, 'list' | 'get' | 'transcript' | 'hangup'> {
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
      const finals = calls.transcript(request.params.id) ?? refuseUnknown('call');
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
        description:
          'It is said when everything asked for before has been said. `spoken` in the caption feed tells what of it was heard.',
        tags: ['calls'],
        params,
        querystring: noQuery,
        body: say,
        response: { 202: z.object({ utterance: z.string() }), ...errorResponses(400, 401, 403, 404, 413, 429) },
      },
    },
    (request, reply) => {
      const { text, voice, interruptible } = request.body;
      const options = {
        ...(voice === undefined ? {} : { voice }),
        ...(interruptible === undefined ? {} : { interruptible }),
      };
      reply.code(202).send({ utterance: voiceOf(request.params.id).say(text, options) });
    },
  );

  app.post(
    '/v1/calls/:id/interrupt',
    {
      schema: {
        summary: 'Fall silent at once',
        description:
          'Throws away whatever is being said and waits to be said. `interrupted` is what was being said; null = nothing was.',
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

const dialRoutes: FastifyPluginCallbackZod<{ calls: Calls; dialer: Dialer | null }> = (
  app,
  { calls, dialer },
  done,
) => {
  app.post(
    '/v1/calls',
    {
      schema: {
        summary: 'Make a call',
        description:
          'Calls somebody over SIP, through SIP_TRUNK or SIP_REGISTRAR. The answer comes at once: the call is `dialing`. `call.started` in the caption feed tells that it was answered; `call.ended` with the reason `busy`, `unanswered` (after 60 seconds at the latest) or `refused` that it never will be. `hangup` gives it up. Tried against Asterisk 22.10.1.',
        tags: ['calls'],
        querystring: noQuery,
        body: dial,
        response: { 201: call, ...errorResponses(400, 401, 403, 413, 429, 501, 503) },
      },
    },
    async (request, reply) => {
      const { to, from = null, app: url = null, parameters = {} } = request.body;
      if (dialer === null)
        throw new TrunklineError(
          'dialing_unavailable',
          'calls are made over SIP, and its port is closed: set SIP_PORT',
        );
      const { callId } = await dialer.dial({ to, from, app: url, parameters });
      return reply.code(201).send(calls.get(callId) ?? refuseUnknown('call'));
    },
  );
  done();
};

/**
 * `GET` and `POST /v1/calls`, and of one call itself, `transcript`, `say`, `interrupt`, `dtmf` and `hangup`. `dialer`
 * makes calls; null = nobody can.
 */
export const callRoutes: FastifyPluginCallbackZod<{ calls: Calls; dialer: Dialer | null }> = (
  app,
  { calls, dialer },
  done,
) => {
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

  void app.register(dialRoutes, { calls, dialer });
  void app.register(transcriptRoutes, { calls });
  void app.register(voiceRoutes, { calls });
  done();
};

function refuseUnknown(what: string): never {
  throw new TrunklineError(
    'call_not_found',
    `there is no ${what} of that id; GET /v1/calls lists those that are live or ended lately`,
  );
}
