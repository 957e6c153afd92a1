/** The messages that callers left in flows (`record`). Their sound is with that of calls. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { FlowMessageEvent } from '../../calls/feed/events.ts';
import { callerBetween } from '../../calls/feed/said-between.ts';
import { errorResponses } from '../server/errors.ts';
import { nameSchemas } from '../server/named-schemas.ts';
import type { CallDirectory } from './call-directory.ts';
import { callPath, noQuery, refuseUnknown } from './call-schemas.ts';
import type { TranscriptSource } from './transcripts.ts';

/** Events of a call that are read at once. */
const EVENTS_PER_READ = 1000;

const message = z.object({
  message: z.string().describe('Names it within its call: `message-1`'),
  flow: z.string(),
  step: z.string(),
  startMs: z.number().describe('Its stretch of the call'),
  endMs: z.number(),
  text: z.string().describe('What was said in it, as the transcript of the call has it'),
});

nameSchemas({ CallMessage: message });

/** `GET /v1/calls/{id}/messages`. */
export const messageRoutes: FastifyPluginCallbackZod<{
  directory: CallDirectory;
  transcripts: TranscriptSource;
}> = (app, { directory, transcripts }, done) => {
  app.get(
    '/v1/calls/:id/messages',
    {
      config: { permission: 'calls.listen', audit: 'transcript.read', ownedBy: 'call', storedToo: true },
      schema: {
        operationId: 'listCallMessages',
        summary: 'The messages that a caller left in a call',
        description: 'Those of the step `record` of flows. `/v1/calls/{id}/messages/{message}/sound` plays one.',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        response: {
          200: z.object({ data: z.array(message), next: z.null() }),
          ...errorResponses(400, 401, 403, 404, 429, 501, 507),
        },
      },
    },
    async (request) => {
      const { calls } = directory.records('the messages of a call');
      const { id } = await directory.get(request.params.id);
      await directory.settle();
      const left = await messagesOf(calls, id);
      const { items } = (await transcripts.transcript(id)) ?? refuseUnknown('call');
      const data = left.map(({ message: name, flow, step, startMs, endMs }) => {
        const text = callerBetween(items, startMs, endMs);
        return { message: name, flow, step, startMs, endMs, text };
      });
      return { data, next: null };
    },
  );
  done();
};

type StoredCalls = ReturnType<CallDirectory['records']>['calls'];

async function messagesOf(calls: Pick<StoredCalls, 'events'>, id: string): Promise<FlowMessageEvent[]> {
  const left: FlowMessageEvent[] = [];
  for (let after = 0; ; ) {
    const page = await calls.events(id, { after, limit: EVENTS_PER_READ });
    for (const { json } of page)
      if (json.includes('"flow.message"')) {
        const event = JSON.parse(json) as FlowMessageEvent;
        if (event.type === 'flow.message') left.push(event);
      }
    const last = page.at(-1);
    if (last === undefined || page.length < EVENTS_PER_READ) return left;
    after = last.position;
  }
}
