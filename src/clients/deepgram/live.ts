/** Deepgram's live speech to text: `WS /v1/listen` and `WS /v2/listen`. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallView } from '../../calls/call-view.ts';
import { toTranscriberMetrics } from '../../calls/inbound/track.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { isPermitted } from '../../http/access/permissions.ts';
import type { Principal } from '../../http/access/principal.ts';
import { errorResponses } from '../../http/server/errors.ts';
import { websocketOnly } from '../../http/server/websocket-only.ts';
import { requireLanguage } from '../../http/transcriptions/languages.ts';
import type { StreamDecoders } from '../../recordings/streams/stream-decoders.ts';
import { languagesOf } from '../../recordings/transcribe.ts';
import { admitting } from '../shared/admitting.ts';
import type { ListenContext } from '../shared/context.ts';
import { PassedOver } from '../shared/passed-over.ts';
import { CallStream } from './call-stream.ts';
import { FluxStream } from './flux-stream.ts';
import { ListenStream } from './listen-stream.ts';
import { DEEPGRAM_MESSAGE_MAX_BYTES } from './stream-socket.ts';
import { type FluxQuery, type ListenQuery, readFluxQuery, readListenQuery } from './wire/listen-query.ts';

const LISTEN_PATH = '/v1/listen';
const FLUX_PATH = '/v2/listen';

/** What the recogniser is called; clients show it, and compare it with nothing. */
const ARCHITECTURE = 'trunkline';
const MODEL_VERSION = '1';

const LISTEN_DESCRIPTION = `Compatible with Deepgram's streaming API (\`encoding\` linear16, linear32, mulaw, alaw, opus with one packet in each message, or none where the first bytes say the format: WAV, MP3, FLAC, Ogg or WebM with Opus, Ogg with Vorbis, and where ffmpeg is installed AAC, MP4, MPEG-TS, AMR, AU; \`sample_rate\`, \`channels\`, \`multichannel\`, \`interim_results\`,
\`endpointing\`, \`utterance_end_ms\`, \`vad_events\`, \`punctuate\`, \`smart_format\`, \`language\`, \`keyterm\`; other parameters are passed over). Binary messages are audio; texts are
\`KeepAlive\`, \`Finalize\`, \`Configure\` and \`CloseStream\`. Answers are \`Results\`, \`SpeechStarted\`, \`UtteranceEnd\` and at the end \`Metadata\`. With \`call\` no audio is sent: the
tracks of that live call are the channels. At most LISTENERS_MAX are open, and none is added where the engines have no room.`;

/** Parameters are texts, read by hand: a client may send any. */
const anyQuery = z.looseObject({});

/** What a handshake was found to ask for, for the socket that follows. */
const asked = new WeakMap<FastifyRequest, { readonly query: ListenQuery; readonly call: CallView | null }>();
const askedOfFlux = new WeakMap<FastifyRequest, FluxQuery>();

/** What the routes work with. */
interface LiveOptions {
  readonly context: ListenContext;
  readonly decoders: StreamDecoders;
}

/** `WS /v1/listen`. */
export const listenRoute: FastifyPluginCallbackZod<LiveOptions> = (app, { context, decoders }, done) => {
  const { listeners, access, log, readers } = context;
  const metrics = toTranscriberMetrics(context.metrics);
  const onPacketsBroken = (packets: number) => context.metrics.listenPacketsBroken.inc(packets);
  const passedOver = new PassedOver({ log, endpoint: LISTEN_PATH });
  app.route({
    method: 'GET',
    url: LISTEN_PATH,
    exposeHeadRoute: false,
    // To see a call of one's own is enough to read it; audio needs more.
    config: {
      permission: 'calls.read',
      shortKeys: true,
      socket: true,
      fromAnySite: true,
      keyInUrl: true,
      deepgram: true,
      messageMaxBytes: DEEPGRAM_MESSAGE_MAX_BYTES,
    },
    schema: {
      operationId: 'openDeepgramListen',
      summary: 'Live audio to text (WebSocket, Deepgram)',
      description: LISTEN_DESCRIPTION,
      tags: ['recordings'],
      querystring: anyQuery,
      response: errorResponses(400, 401, 403, 404, 429, 503),
    },
    preHandler: [
      async (request) => {
        const query = readListenQuery(request.query);
        passedOver.note(query.passedOver);
        if (query.callId === null) requireAudio(access.principalOf(request));
        else access.permit(request, 'calls.read');
        await requireKnown(query.language, context);
        const call = query.callId === null ? null : await findLive(query.callId, request, context);
        asked.set(request, { query, call });
      },
      admitting((request) =>
        asked.get(request)?.call ? readers.assertRoom() : listeners.admit(access.listenerOf(request)),
      ),
    ],
    handler: websocketOnly(LISTEN_PATH),
    wsHandler: (socket, request) => {
      const { query, call } = asked.get(request) ?? readAgain();
      const parts = { ...context, socket, request, passedOver, model: () => modelOf(context) };
      if (call !== null) {
        const stream = new CallStream({ ...parts, query, call });
        // It may have ended since the handshake.
        void context.findCall(call.id).then(
          (found) => found?.state === 'ended' && stream.end(),
          (error: unknown) => stream.fail(error),
        );
        return;
      }
      const stream = new ListenStream({ ...parts, onPacketsBroken, metrics, decoders, query });
      listeners.enter('deepgram', { owner: access.listenerOf(request), socket, session: stream });
    },
  });
  done();
};

/** `WS /v2/listen`. */
export const fluxRoute: FastifyPluginCallbackZod<LiveOptions> = (app, { context, decoders }, done) => {
  const { listeners, access, log } = context;
  const metrics = toTranscriberMetrics(context.metrics);
  const onPacketsBroken = (packets: number) => context.metrics.listenPacketsBroken.inc(packets);
  const passedOver = new PassedOver({ log, endpoint: FLUX_PATH });
  app.route({
    method: 'GET',
    url: FLUX_PATH,
    exposeHeadRoute: false,
    config: {
      permission: 'transcriptions',
      socket: true,
      fromAnySite: true,
      keyInUrl: true,
      deepgram: true,
      messageMaxBytes: DEEPGRAM_MESSAGE_MAX_BYTES,
    },
    schema: {
      operationId: 'openDeepgramFlux',
      summary: 'Live audio as turns of one speaker (WebSocket, Deepgram Flux)',
      description:
        "Compatible with Deepgram's Flux: `encoding`, `sample_rate`, `eager_eot_threshold`, `eot_timeout_ms`, " +
        '`keyterm`, `language_hint`. Answers are `Connected` and `TurnInfo`: `StartOfTurn`, `Update`, ' +
        '`EagerEndOfTurn`, `TurnResumed`, `EndOfTurn`.',
      tags: ['recordings'],
      querystring: anyQuery,
      response: errorResponses(400, 401, 403, 429, 503),
    },
    preHandler: [
      async (request) => {
        const query = readFluxQuery(request.query);
        passedOver.note(query.passedOver);
        await requireKnown(query.language, context);
        askedOfFlux.set(request, query);
      },
      admitting((request) => listeners.admit(access.listenerOf(request))),
    ],
    handler: websocketOnly(FLUX_PATH),
    wsHandler: (socket, request) => {
      const query = askedOfFlux.get(request) ?? readAgain();
      const stream = new FluxStream({
        ...context,
        socket,
        request,
        passedOver,
        onPacketsBroken,
        metrics,
        decoders,
        model: () => modelOf(context),
        query,
      });
      listeners.enter('flux', { owner: access.listenerOf(request), socket, session: stream });
    },
  });
  done();
};

/** @throws TrunklineError `invalid_request` for who may read calls, and nothing else */
function requireAudio({ role }: Principal): void {
  if (isPermitted(role, 'transcriptions')) return;
  throw new TrunklineError(
    'invalid_request',
    `call: got nothing, expected the call that the role ${role} reads`,
    'call',
  );
}

function readAgain(): never {
  throw new Error('the handshake was not read before its socket was open');
}

/** The recogniser of finals as clients are told of it. */
export function modelOf({ recogniserName }: Pick<ListenContext, 'recogniserName'>) {
  return { name: recogniserName(), version: MODEL_VERSION, arch: ARCHITECTURE };
}

/** @throws TrunklineError `unsupported_language`; what is supported is known once an engine was ready */
async function requireKnown(language: string | null, { engine }: Pick<ListenContext, 'engine'>): Promise<void> {
  if (language === null) return;
  if (engine.languages.length === 0) await languagesOf(engine).catch(() => undefined);
  requireLanguage(language, engine.languages);
}

/** @throws TrunklineError `call_not_found` */
async function findLive(
  id: string,
  request: FastifyRequest,
  { visibility, findCall }: Pick<ListenContext, 'visibility' | 'findCall'>,
): Promise<CallView> {
  await visibility.refuseUnseen(request, id);
  const call = await findCall(id);
  if (call !== undefined && call.state !== 'ended') return call;
  const found = call === undefined ? 'no call with that id' : 'a call that has ended';
  throw new TrunklineError('call_not_found', `call: got ${found}, expected one that is live`, 'call');
}
