/** What is said to a caller, and which keys are pressed. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallVoice } from '../../calls/outbound/voice.ts';
import { errorResponses } from '../server/errors.ts';
import { callPath, noQuery, refuseUnknown } from './call-schemas.ts';

const digitCount = z.int().min(1).max(100).optional();

const sayBody = z.strictObject({
  text: z.string().min(1),
  voice: z.string().optional().describe('A voice of the engine, or a name that OpenAI has for one'),
  interruptible: z
    .union([z.boolean(), z.enum(['none', 'dtmf', 'speech', 'any'])])
    .optional()
    .describe('What the caller can interrupt it with; true = any, false = none. Default: any, within BARGE_IN'),
  expects: z
    .strictObject({
      digits: z.strictObject({ min: digitCount, max: digitCount }).refine(isRange, 'expected min <= max'),
    })
    .optional()
    .describe(
      'It asks for digits, at least `min` and at most `max`: a caller who dictates them in groups gets more time ' +
        'between the groups, and with `max` digits the turn is over at once',
    ),
});

const interrupted = z.object({
  utterance: z.string(),
  text: z.string().describe('The text that was to be said, as far as it is known'),
  heardText: z.string().describe('The part of it that the caller heard, in whole words'),
  playedMs: z.number(),
});

/** Where the voices of live calls are. */
export interface VoiceSource {
  /** Undefined = no live call with that id. */
  voice(id: string): Pick<CallVoice, 'say' | 'interrupt' | 'sendDigits'> | undefined;
}

/** `POST /v1/calls/{id}/say`, `interrupt` and `dtmf`. */
export const voiceRoutes: FastifyPluginCallbackZod<{ calls: VoiceSource }> = (app, { calls }, done) => {
  void app.register(speechRoutes, { calls });
  void app.register(keyRoutes, { calls });
  done();
};

const speechRoutes: FastifyPluginCallbackZod<{ calls: VoiceSource }> = (app, { calls }, done) => {
  app.post(
    '/v1/calls/:id/say',
    {
      config: { permission: 'calls.act', ownedBy: 'call' },
      schema: {
        operationId: 'sayInCall',
        summary: 'Say something to the caller',
        description:
          'The text is spoken after everything that was asked for before. `spoken` in the caption feed tells how ' +
          'much of it the caller heard.',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        body: sayBody,
        response: { 202: z.object({ utterance: z.string() }), ...errorResponses(400, 401, 403, 404, 413, 429) },
      },
    },
    (request, reply) => {
      const { text, voice, interruptible, expects } = request.body;
      const options = {
        ...(voice === undefined ? {} : { voice }),
        ...(interruptible === undefined ? {} : { interruptible }),
        ...(expects === undefined ? {} : { expectsDigits: expects.digits }),
      };
      reply.code(202).send({ utterance: voiceOf(calls, request.params.id).say(text, options) });
    },
  );

  app.post(
    '/v1/calls/:id/interrupt',
    {
      config: { permission: 'calls.act', ownedBy: 'call' },
      schema: {
        operationId: 'interruptCall',
        summary: 'Stop speaking at once',
        description:
          'Discards what is being said and what waits to be said. `interrupted` is what was being said; null ' +
          '= nothing.',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        response: {
          200: z.object({ interrupted: interrupted.nullable() }),
          ...errorResponses(400, 401, 403, 404, 429),
        },
      },
    },
    (request) => ({ interrupted: voiceOf(calls, request.params.id).interrupt() }),
  );
  done();
};

const keyRoutes: FastifyPluginCallbackZod<{ calls: VoiceSource }> = (app, { calls }, done) => {
  app.post(
    '/v1/calls/:id/dtmf',
    {
      config: { permission: 'calls.act', ownedBy: 'call' },
      schema: {
        operationId: 'sendCallKeys',
        summary: 'Press keys',
        description: 'The tones are played in turn with what is being said. `w` waits half a second.',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        body: z.strictObject({ digits: z.string().describe('1 to 100 of 0-9, *, #, A-D and w') }),
        response: { 202: z.object({ id: z.string() }), ...errorResponses(400, 401, 403, 404, 413, 429) },
      },
    },
    (request, reply) => {
      const { id } = request.params;
      voiceOf(calls, id).sendDigits(request.body.digits);
      reply.code(202).send({ id });
    },
  );
  done();
};

function isRange({ min = 1, max = Number.POSITIVE_INFINITY }: { min?: number | undefined; max?: number | undefined }) {
  return min <= max;
}

function voiceOf(calls: VoiceSource, id: string): ReturnType<VoiceSource['voice']> & object {
  return calls.voice(id) ?? refuseUnknown('live call');
}
