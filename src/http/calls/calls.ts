/** Which calls there are, and the end of one. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallView } from '../../calls/call-view.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import type { CallVisibility } from '../access/call-visibility.ts';
import { errorResponses } from '../server/errors.ts';
import { type ListPosition, pageOf, pageQuery, pageSchema } from '../server/pages.ts';
import { call, callPath, noQuery, refuseUnknown } from './call-schemas.ts';
import { type Dialer, dialRoutes } from './dial.ts';
import { type TranscriptSource, transcriptRoutes } from './transcripts.ts';
import { type VoiceSource, voiceRoutes } from './voice.ts';

/** The calls, as these routes use them. */
export type Calls = Pick<CallRegistry, 'list' | 'get' | 'hangup'> & VoiceSource;

/** Everything of `/v1/calls`; `dialer` makes calls, null = nothing can. */
export const callRoutes: FastifyPluginCallbackZod<{
  calls: Calls;
  transcripts: TranscriptSource;
  dialer: Dialer | null;
  visibility: Pick<CallVisibility, 'viewsOf'>;
}> = (app, { calls, transcripts, dialer, visibility }, done) => {
  void app.register(viewRoutes, { calls, visibility });
  void app.register(hangupRoutes, { calls });
  void app.register(dialRoutes, { calls, dialer });
  void app.register(transcriptRoutes, { transcripts });
  void app.register(voiceRoutes, { calls });
  done();
};

/** `GET /v1/calls` and `GET /v1/calls/{id}`. */
const viewRoutes: FastifyPluginCallbackZod<{
  calls: Pick<Calls, 'list' | 'get'>;
  visibility: Pick<CallVisibility, 'viewsOf'>;
}> = (app, { calls, visibility }, done) => {
  app.get(
    '/v1/calls',
    {
      config: { permission: 'calls.read' },
      schema: {
        summary: 'Live calls and those that ended lately, the latest first',
        description: 'Calls that are being made come first, then live ones, then those that have ended.',
        tags: ['calls'],
        querystring: pageQuery,
        response: { 200: pageSchema(call), ...errorResponses(400, 401, 403, 429) },
      },
    },
    (request) => pageOf(visibility.viewsOf(request, calls.list()), positionOf, request.query),
  );

  app.get(
    '/v1/calls/:id',
    {
      config: { permission: 'calls.read' },
      schema: {
        summary: 'One call',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        response: { 200: call, ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    (request) => {
      const found = calls.get(request.params.id) ?? refuseUnknown('call');
      return visibility.viewsOf(request, [found])[0] ?? refuseUnknown('call');
    },
  );
  done();
};

const STATES: readonly CallView['state'][] = ['dialing', 'live', 'ended'];

/** A call only moves towards the end of the list while it goes on, so that a reader of all pages misses none. */
function positionOf({ id, state, startedAt, endedAt }: CallView): ListPosition {
  return [STATES.indexOf(state), -Date.parse(endedAt ?? startedAt), id];
}

/** `POST /v1/calls/{id}/hangup`. */
const hangupRoutes: FastifyPluginCallbackZod<{ calls: Pick<Calls, 'hangup'> }> = (app, { calls }, done) => {
  app.post(
    '/v1/calls/:id/hangup',
    {
      config: { permission: 'calls.act' },
      schema: {
        summary: 'End a live call',
        description:
          'Closes the media stream when everything that waits to be said has been said, after 30 seconds at the ' +
          'latest; a second request closes it at once. Twilio goes on with the TwiML after <Connect>, or hangs up ' +
          'where there is none.',
        tags: ['calls'],
        params: callPath,
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
  done();
};
