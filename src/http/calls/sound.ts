/** The sound of calls: to hear it, and to say whether it is recorded. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallView } from '../../calls/call-view.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import { messageSoundId } from '../../calls/sound/message-recording.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { SoundStore } from '../../records/sound/sound-store.ts';
import type { WavStream } from '../../records/sound/wav-stream.ts';
import { isSameRepresentation, readRange } from '../server/byte-range.ts';
import { errorResponses } from '../server/errors.ts';
import { goneSignal } from '../server/gone-signal.ts';
import { sendStream } from '../speech/streamed-body.ts';
import { callPath, noQuery, refuseUnknown } from './call-schemas.ts';

/** A call, as far as its sound needs it. */
type FoundCall = Pick<CallView, 'id' | 'startedAt' | 'state'>;

/** What the routes of sound need. */
export interface SoundRoutesContext {
  /** Live calls, and whether their sound is recorded. */
  readonly calls: Pick<CallRegistry, 'setRecording'>;
  /** The call with that id, live or stored; undefined = there is none. */
  readonly find: (id: string) => Promise<FoundCall | undefined>;
  /** Null = nothing keeps sound. */
  readonly sound: Pick<SoundStore, 'read'> | null;
  /** Keeps for the audit that somebody hears a call. */
  /** Answers with what another gateway has; false = none has it, or there is none. Absent = there is none. */
  readonly fromOthers?: ((request: FastifyRequest, reply: FastifyReply) => Promise<boolean>) | undefined;
  readonly notePlayed: (request: FastifyRequest, callId: string) => void;
  readonly clock: Clock;
}

const soundQuery = z.strictObject({
  untilMs: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Only the sound up to that moment of the call: that of a live call has one length then'),
});

const messagePath = callPath.extend({
  message: z.string().regex(/^message-\d{1,2}$/, 'expected the name of a message such as message-1'),
});

const wavContent = { 'audio/wav': { schema: z.any().describe('WAV, 16 bit, two channels') } };
const soundResponses = {
  200: { description: 'The file', content: wavContent },
  206: { description: 'The bytes that `Range` names', content: wavContent },
  ...errorResponses(400, 401, 403, 404, 409, 416, 429, 500),
};

/** `GET /v1/calls/{id}/sound` and `POST /v1/calls/{id}/recording`. */
export const soundRoutes: FastifyPluginCallbackZod<SoundRoutesContext> = (app, context, done) => {
  app.get(
    '/v1/calls/:id/sound',
    {
      config: { permission: 'calls.listen', ownedBy: 'sound' },
      schema: {
        operationId: 'getCallSound',
        summary: 'The recorded sound of a call',
        description:
          'A WAV file of two channels: left is the caller, right what the caller heard. Its time is that of ' +
          'captions. Range requests are answered, so that players can seek. Of a live call it is what there is so ' +
          'far; the sound of the last three seconds may be missing.',
        tags: ['calls'],
        params: callPath,
        querystring: soundQuery,
        response: soundResponses,
      },
    },
    (request, reply) => sendSound(request, reply, context),
  );

  app.post(
    '/v1/calls/:id/recording',
    {
      config: { permission: 'calls.act', ownedBy: 'call' },
      schema: {
        operationId: 'setCallRecording',
        summary: 'Record a live call, pause that, or end it',
        description:
          'While it is paused, what is said is silence in the sound: for card numbers. `on` goes on, or begins the ' +
          'recording of a call that was not recorded, after RECORD_ANNOUNCEMENT. The event `recording` tells when it ' +
          'has happened.',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        body: z.strictObject({ state: z.enum(['on', 'paused', 'off']) }),
        response: {
          202: z.object({ id: z.string(), state: z.enum(['on', 'paused', 'off']) }),
          ...errorResponses(400, 401, 403, 404, 429, 501),
        },
      },
    },
    (request, reply) => {
      const { id } = request.params;
      const { state } = request.body;
      const isKept = context.calls.setRecording(id, state) ?? refuseUnknown('live call');
      if (!isKept)
        throw new TrunklineError(
          'recording_unavailable',
          'this server has no folder for sound; set DATA_DIR to record calls',
        );
      reply.code(202).send({ id, state });
    },
  );
  done();
};

/** `GET /v1/calls/{id}/messages/{message}/sound`. */
export const messageSoundRoutes: FastifyPluginCallbackZod<SoundRoutesContext> = (app, context, done) => {
  app.get(
    '/v1/calls/:id/messages/:message/sound',
    {
      config: { permission: 'calls.listen', ownedBy: 'sound' },
      schema: {
        operationId: 'getCallMessageSound',
        summary: 'The sound of a message that a caller left',
        description: 'As the sound of a call, from the beginning of the message; the right channel is silent.',
        tags: ['calls'],
        params: messagePath,
        querystring: soundQuery,
        response: soundResponses,
      },
    },
    (request, reply) => sendSound(request, reply, context),
  );
  done();
};

async function sendSound(request: FastifyRequest, reply: FastifyReply, context: SoundRoutesContext): Promise<void> {
  const { id } = request.params as z.infer<typeof callPath>;
  const call = (await context.find(id)) ?? refuseUnknown('call');
  const opened = await openSound(request, call, context, goneSignal(reply)).catch(async (error: unknown) => {
    const isElsewhere = error instanceof TrunklineError && error.code === 'sound_not_found';
    if (isElsewhere && (await context.fromOthers?.(request, reply))) return null;
    throw error;
  });
  if (opened === null) return;
  const { stream, etag, isPart } = opened;
  const { range, totalBytes } = stream;
  reply.headers({ 'accept-ranges': 'bytes', etag });
  if (range === null) {
    stream.close();
    reply.header('content-range', `bytes */${totalBytes}`);
    throw new TrunklineError('range_refused', `range: got bytes beyond the ${totalBytes} that there are`, 'range');
  }
  const { first, last } = range;
  const headers = {
    'content-type': 'audio/wav',
    'content-length': String(last - first + 1),
    ...(isPart && { 'content-range': `bytes ${first}-${last}/${totalBytes}` }),
  };
  const status = isPart ? 206 : 200;
  if (request.method === 'HEAD') {
    stream.close();
    // By itself it would say the length of what it sends, which is nothing.
    reply.hijack();
    reply.raw.writeHead(status, { ...(reply.getHeaders() as Record<string, string>), ...headers }).end();
    return;
  }
  context.notePlayed(request, call.id);
  await sendStream({
    reply,
    status,
    headers,
    chunks: stream.bytes,
    clock: context.clock,
    onFirst: () => undefined,
    onFailure: () => null,
  });
}

/** Opens what the request wants of the sound; all of it where a part would not fit to what the client has. */
async function openSound(
  { headers, params, query }: FastifyRequest,
  call: FoundCall,
  { sound }: SoundRoutesContext,
  signal: AbortSignal,
): Promise<{ readonly stream: WavStream; readonly etag: string; readonly isPart: boolean }> {
  if (sound === null) throw new TrunklineError('sound_not_found', 'this server keeps no sound');
  const wanted = readRange(headers.range);
  const [, message] = /^message-(\d+)$/.exec((params as Partial<z.infer<typeof messagePath>>).message ?? '') ?? [];
  const callId = message === undefined ? call.id : messageSoundId(call.id, Number(message));
  const owner = { callId, startedMs: Date.parse(call.startedAt) };
  const { untilMs = null } = query as z.infer<typeof soundQuery>;
  const stream = await sound.read(owner, { untilMs, wanted }, signal);
  const etag = tagOf(call, stream);
  const ifRange = headers['if-range'];
  if (wanted === null || isSameRepresentation(Array.isArray(ifRange) ? ifRange[0] : ifRange, etag))
    return { stream, etag, isPart: wanted !== null };
  stream.close();
  return { stream: await sound.read(owner, { untilMs, wanted: null }, signal), etag, isPart: false };
}

/** A live call's sound grows, and parts of it that came at different times may not fit together. */
function tagOf({ state }: Pick<CallView, 'state'>, { totalBytes }: WavStream): string {
  return `${state === 'ended' ? '' : 'W/'}"${totalBytes}"`;
}
