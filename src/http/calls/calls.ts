/** The routes of calls, and the end of one. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { CallTranscripts } from '../../calls/call-transcripts.ts';
import type { Feed } from '../../calls/feed/feed.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { CallVisibility } from '../access/call-visibility.ts';
import { errorResponses } from '../server/errors.ts';
import { type AuditTrail, auditRoutes } from './audit-trail.ts';
import { CallDirectory, type KeptCalls } from './call-directory.ts';
import { callEventRoutes } from './call-events.ts';
import { callListRoutes } from './call-lists.ts';
import { callPath, noQuery, refuseUnknown } from './call-schemas.ts';
import { type Dialer, dialRoutes } from './dial.ts';
import { exportRoutes } from './export.ts';
import { messageRoutes } from './messages.ts';
import { noteRoutes } from './notes.ts';
import { type TranscriptSource, transcriptRoutes } from './transcripts.ts';
import { type VoiceSource, voiceRoutes } from './voice.ts';

/** The calls, as these routes use them. */
export type Calls = Pick<CallRegistry, 'list' | 'get' | 'hangup' | 'setLanguage'> & VoiceSource;

/** What the routes of calls need. */
interface CallRoutesOptions {
  readonly calls: Calls;
  readonly transcripts: TranscriptSource;
  /** Makes calls; null = nothing can. */
  readonly dialer: Dialer | null;
  readonly visibility: Pick<CallVisibility, 'viewsOf' | 'readerOf' | 'namesFor'>;
  readonly trail: AuditTrail;
  /** Null = nothing is kept. */
  readonly kept: KeptCalls | null;
  readonly feed: Pick<Feed, 'forget' | 'publish'>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'records'>;
}

/** Everything of `/v1/calls`. */
export const callRoutes: FastifyPluginCallbackZod<CallRoutesOptions> = (app, options, done) => {
  const { calls, transcripts, dialer, visibility, trail, kept, feed, clock, metrics } = options;
  const directory = new CallDirectory({ memory: calls, kept, feed, clock, metrics });
  trail.watch(app);
  void app.register(callListRoutes, { directory, visibility, trail });
  void app.register(callEventRoutes, { directory, visibility });
  void app.register(exportRoutes, { directory, transcripts: storedOr(transcripts, kept), trail, clock });
  void app.register(noteRoutes, { directory, calls, kept, feed, visibility, trail, clock });
  void app.register(auditRoutes, { directory, trail });
  void app.register(hangupRoutes, { calls });
  void app.register(dialRoutes, { calls, dialer });
  void app.register(transcriptRoutes, { transcripts, visibility });
  void app.register(messageRoutes, { directory, transcripts });
  void app.register(voiceRoutes, { calls });
  done();
};

/** Transcripts as they are stored; where nothing is kept, those in memory. */
function storedOr(transcripts: TranscriptSource, kept: KeptCalls | null): TranscriptSource {
  if (kept === null) return transcripts;
  return new CallTranscripts({ calls: { summary: () => undefined }, archive: kept.records.calls });
}

/** `POST /v1/calls/{id}/hangup`. */
const hangupRoutes: FastifyPluginCallbackZod<{ calls: Pick<Calls, 'hangup'> }> = (app, { calls }, done) => {
  app.post(
    '/v1/calls/:id/hangup',
    {
      config: { permission: 'calls.act', ownedBy: 'call' },
      schema: {
        operationId: 'endCall',
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
