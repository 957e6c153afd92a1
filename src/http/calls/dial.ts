/** Calls that Trunkline makes. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';
import { errorResponses } from '../server/errors.ts';
import { call, noQuery, refuseUnknown } from './call-schemas.ts';

/** What makes calls. */
export interface Dialer {
  /**
   * Dials and returns the call's id at once.
   * @throws TrunklineError `dialing_unavailable`, `invalid_request` (no such trunk, or none for this number),
   * `too_many_calls` or `draining`
   */
  dial(request: {
    readonly to: string;
    readonly from: string | null;
    readonly app: string | null;
    readonly parameters: Readonly<Record<string, string>>;
    readonly trunk: string | null;
    readonly timeoutMs: number;
  }): Promise<{ readonly callId: string }>;
}

/** As a user of a SIP URI: digits and what dial plans add to them, or a name. */
const PARTY = /^[+*#\w.-]{1,64}$/;
const PARTY_DESCRIPTION = 'A telephone number such as +14155550100, or a name: 1 to 64 letters, digits and + * # . _ -';
const PARAMETERS_MAX = 50;
const RING_DEFAULT_MS = 60_000;
const RING_MIN_MS = 1000;
const RING_MAX_MS = 300_000;

const dialBody = z.strictObject({
  to: z.string().regex(PARTY, PARTY_DESCRIPTION).describe(PARTY_DESCRIPTION),
  from: z
    .string()
    .regex(PARTY, PARTY_DESCRIPTION)
    .optional()
    .describe('The calling number, as far as the trunk allows; default: SIP_USER'),
  app: z
    .url({ protocol: /^wss?$/ })
    .optional()
    .describe('The app that talks to whoever answers; default: APP_URL'),
  trunk: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('The name of a trunk in SIP_TRUNKS, which alone is tried; default: those that take the number, in order'),
  timeoutMs: z
    .int()
    .min(RING_MIN_MS)
    .max(RING_MAX_MS)
    .default(RING_DEFAULT_MS)
    .describe('How long it may take until somebody answers, over all trunks'),
  flow: z.string().min(1).max(64).optional().describe('The flow that talks to whoever answers'),
  parameters: z
    .record(z.string().min(1).max(64), z.string().max(1024))
    .refine((list) => Object.keys(list).length <= PARAMETERS_MAX, `at most ${PARAMETERS_MAX} parameters`)
    .optional()
    .describe(
      'Parameters of the call, as a carrier sends them: bargeIn, welcomeGreeting, voice …, and whatever the app ' +
        'should know',
    ),
});

interface DialOptions {
  readonly calls: { get(id: string): z.infer<typeof call> | undefined };
  /** Null = nothing can make calls. */
  readonly dialer: Dialer | null;
}

/** `POST /v1/calls`. */
export const dialRoutes: FastifyPluginCallbackZod<DialOptions> = (app, { calls, dialer }, done) => {
  app.post(
    '/v1/calls',
    {
      config: { permission: 'calls.make' },
      schema: {
        operationId: 'createCall',
        summary: 'Make a call',
        description:
          'Calls a number over SIP, through SIP_TRUNK, SIP_REGISTRAR or one of SIP_TRUNKS. The answer comes at once, ' +
          'with the call in the state `dialing`. `call.started` in the caption feed tells that somebody answered; ' +
          '`call.ended` with ' +
          'the reason `busy`, `unanswered` (after `timeoutMs` at the latest) or `refused` tells that nobody will, ' +
          'and `sip` what the trunk answered last. ' +
          'A trunk that fails (408, 5xx, no answer) is followed by the next one. ' +
          '`hangup` gives the call up. Tried against Asterisk 22.10.1.',
        tags: ['calls'],
        querystring: noQuery,
        body: dialBody,
        response: { 201: call, ...errorResponses(400, 401, 403, 413, 429, 501, 503) },
      },
    },
    async (request, reply) => {
      const { to, from = null, app: url = null, trunk = null, flow, parameters: given = {}, timeoutMs } = request.body;
      const parameters = flow === undefined ? given : { flow, ...given };
      if (dialer === null)
        throw new TrunklineError(
          'dialing_unavailable',
          'calls are made over SIP, and its port is closed: set SIP_PORT or SIP_TLS_PORT',
        );
      const { callId } = await dialer.dial({ to, from, app: url, parameters, trunk, timeoutMs });
      return reply.code(201).send(calls.get(callId) ?? refuseUnknown('call'));
    },
  );
  done();
};
