/** The caption feed over HTTP: Server-Sent Events (WHATWG HTML §9.2), and a WebSocket with the same events. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { FeedEntry, FeedFilter } from '../../calls/feed/feed.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { CallVisibility } from '../access/call-visibility.ts';
import { errorResponses } from '../server/errors.ts';
import { beginEvents, formatEvent, HEARTBEAT } from '../server/server-sent-events.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { FeedReaders, FeedSink } from './readers.ts';

/** How long a browser waits before it connects again. */
const RETRY_MS = 2000;
/** How long a WebSocket may take to answer our close before its connection is destroyed. */
const CLOSE_GRACE_MS = 1000;
const ID_MAX_CHARS = 300;

const query = z.strictObject({
  call: z.string().max(ID_MAX_CHARS).optional().describe('Only events of this call, which may begin later'),
  after: z
    .string()
    .max(ID_MAX_CHARS)
    .optional()
    .describe(
      'Continue after the event with this id, from memory or from the record; one that says nothing replays what ' +
        'memory holds, or with `call` the whole call',
    ),
  ids: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Add the id of each event to its object, as the member `id`'),
});
type CaptionQuery = z.infer<typeof query>;

const DESCRIPTION = `The events of all calls, one JSON object each: \`call.started\`, \`speech.started\`, \`speech.stopped\`, \`caption\`, \`revision\`, \`language\`, \`gap\`, \`lag.started\`, \`lag.ended\`, \`spoken\`, \`dtmf\`, \`call.state\`, \`call.transferred\`, \`call.assigned\`, \`answered\`, \`beep\`, \`fax\`, \`app.lost\`, \`app.back\`, \`app.muted\`, \`app.unmuted\`, \`flow.started\`, \`flow.step\`, \`flow.input\`, \`flow.message\`, \`flow.ended\`, \`call.updated\`, \`note\`, \`mark\`, \`hint\`, \`recording\`, \`call.ended\`, \`call.resumed\`, \`call.deleted\`. A reader must ignore types that it does not know.
\`events.missing\` (\`after\`) comes to a reader that resumes when the record cannot be read, or was restored from before that id: what was told after that id, and before the events that follow, is missing. It may
ask for it again, with \`?after=\`.

\`feed.degraded\` (\`since\`, ISO 8601) comes from one of several gateways whose database is away: until \`feed.restored\` (\`since\`) its readers get the events
of its own calls alone. Both have no id.

\`gap\` (\`track\`, \`startMs\`, \`endMs\`, \`reason\`) is a stretch of audio without a final caption: \`overload\` = no engine had time for it, \`engine\` = the engines failed at it
repeatedly, \`shutdown\` = the server was stopped first, \`error\` = another failure of the server, \`media\` = the audio was lost in the network.
\`lag.started\` (\`track\`, \`atMs\`, \`lagMs\`) says that the captions of a track are more than a second late; \`lag.ended\` says that they have been on time again
for five seconds.

Each Server-Sent Event has an \`id:\`. A reader that reconnects with \`Last-Event-ID\` (browsers send it themselves) or \`?after=\` misses no event
that is still kept: the latest 2000 in memory, older ones in the record (DATA_DIR), without partial captions and \`speech.*\`. A WebSocket on the same path gets the same objects as text messages. To resume, it asks for \`?ids=true\`,
stores the \`id\` of the last object and reconnects with \`?ids=true&after=<id>\`. A reader with more than 256 KiB unread is disconnected
(WebSocket close code 4413) and may resume.`;

interface CaptionOptions {
  readonly readers: FeedReaders;
  readonly clock: Clock;
  readonly visibility: Pick<CallVisibility, 'readerOf'>;
  readonly trail: Pick<AuditTrail, 'note'>;
}

/** `GET /v1/captions` and `WS /v1/captions`. */
export const captionRoutes: FastifyPluginCallbackZod<CaptionOptions> = (app, options, done) => {
  const { readers } = options;
  app.route({
    method: 'GET',
    url: '/v1/captions',
    exposeHeadRoute: false,
    config: { permission: 'calls.read', socket: true },
    schema: {
      operationId: 'streamCaptions',
      summary: 'The caption feed (SSE or WebSocket)',
      description: DESCRIPTION,
      tags: ['captions'],
      querystring: query,
      response: {
        200: { description: 'An endless stream of events', content: { 'text/event-stream': { schema: z.string() } } },
        ...errorResponses(400, 401, 403, 429, 503),
      },
    },
    preHandler: (_request, _reply, next) => {
      readers.assertRoom();
      next();
    },
    handler: (request, reply) => streamEvents(options, request, request.query, reply),
    wsHandler: (socket, request) => sendMessages(options, request, socket),
  });
  done();
};

function streamEvents(
  options: CaptionOptions,
  request: FastifyRequest,
  asked: CaptionQuery,
  reply: FastifyReply,
): void {
  const { readers, visibility, trail } = options;
  const lastEventId = [request.headers['last-event-id'] ?? []].flat().at(0);
  trail.note(request, 'feed.read', asked.call || null);
  const raw = beginEvents(reply);
  raw.write(`retry: ${RETRY_MS}\n\n`);
  const { allows, prepare, shown } = visibility.readerOf(request);
  // A browser's own reconnect repeats the address it began with, so its header is newer than `after`.
  const reader = readers.open({ ...filterOf(asked, lastEventId), allows, prepare }, eventStream(raw, asked, shown));
  raw.once('close', () => reader.end());
}

function sendMessages(
  { readers, clock, visibility, trail }: CaptionOptions,
  request: FastifyRequest,
  socket: WebSocket,
): void {
  const asked = request.query as CaptionQuery;
  trail.note(request, 'feed.read', asked.call || null);
  const { allows, prepare, shown } = visibility.readerOf(request);
  const reader = readers.open(
    { ...filterOf(asked, undefined), allows, prepare },
    messages(socket, clock, asked, shown),
  );
  socket.once('close', () => reader.end());
}

/** Empty values are ignored, so that a program may always send both. */
function filterOf(asked: CaptionQuery, lastEventId: string | undefined): FeedFilter {
  const after = lastEventId || asked.after;
  return { ...(asked.call ? { callId: asked.call } : {}), ...(after ? { after } : {}) };
}

type Shown = (entry: FeedEntry) => FeedEntry;

function eventStream(raw: ServerResponse, asked: CaptionQuery, shown: Shown): FeedSink {
  return {
    kind: 'sse',
    get unsentBytes() {
      return raw.writableLength;
    },
    write: (entry, sent) => void raw.write(formatEvent(textOf(shown(entry), asked), { id: entry.id }), sent),
    // Without an id: a browser that comes back asks for the missing ones again.
    tellMissing: (after) => void raw.write(formatEvent(missingAfter(after, asked))),
    tellNotice: (notice) => void raw.write(formatEvent(JSON.stringify(notice))),
    beat: () => void raw.write(HEARTBEAT),
    cut: () => void raw.destroy(),
    close: () => void raw.end(),
  };
}

function messages(socket: WebSocket, clock: Clock, asked: CaptionQuery, shown: Shown): FeedSink {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  const close = (code: 'reader_too_slow' | 'draining') => {
    socket.close(new TrunklineError(code, '').closeCode, code);
    const timer = clock.after(CLOSE_GRACE_MS, () => socket.terminate(), true);
    socket.once('close', () => timer.cancel());
  };
  return {
    kind: 'websocket',
    get unsentBytes() {
      return socket.bufferedAmount;
    },
    write: (entry, sent) => socket.send(textOf(shown(entry), asked), sent),
    tellMissing: (after) => socket.send(missingAfter(after, asked)),
    tellNotice: (notice) => socket.send(JSON.stringify(notice)),
    beat() {
      if (!isAlive) return socket.terminate();
      isAlive = false;
      socket.ping();
    },
    cut: () => close('reader_too_slow'),
    close: () => close('draining'),
  };
}

/** Not an event of the feed, which all readers get: it is for this one alone. */
function missingAfter(after: string, { ids }: CaptionQuery): string {
  return JSON.stringify({ ...(ids === 'true' ? { id: after } : {}), type: 'events.missing', after });
}

function textOf(entry: FeedEntry, asked: CaptionQuery): string {
  return asked.ids === 'true' ? `{"id":${JSON.stringify(entry.id)},${entry.json.slice(1)}` : entry.json;
}
