/** `trunkline tail`: the captions of all calls or of one, as they come. */
import { z } from 'zod';
import type { CallRingingEvent, CallStartedEvent, FeedEvent } from '../../calls/feed/events.ts';
import { systemClock } from '../../foundation/clock.ts';
import { call } from '../../http/calls/call-schemas.ts';
import { EXIT_INTERRUPTED, EXIT_OK } from '../exit-codes.ts';
import { Interruption } from '../interruption.ts';
import { callPath } from './act.ts';
import { liveCalls, sidesOf } from './calls.ts';
import type { RemoteContext } from './context.ts';
import { type FollowedEvent, followFeed } from './feed-follower.ts';
import { TailDisplay } from './tail-display.ts';

/** Calls whose names are asked for when all are followed. */
const CALLS_MAX = 1000;

type CallAnswer = z.infer<typeof call>;

/** Follows all calls until Ctrl-C, or one until it ends. @throws ServerRefused */
export async function tail(callId: string | undefined, context: RemoteContext): Promise<number> {
  const { server, json, terminal } = context;
  const calls =
    callId === undefined
      ? (await liveCalls(server, new URLSearchParams(), CALLS_MAX)).calls
      : [await server.ask('GET', callPath(callId), call)];
  const display = new TailDisplay(terminal.out, { isOne: callId !== undefined });
  if (!json) for (const each of calls) display.introduce(each.id, each.names, describeCall(each));
  const show = (event: FollowedEvent): void => {
    if (json) showAsJson(event, context);
    else if (!begins(event)) display.show(event);
    else if (callId === undefined)
      display.introduce(event.callId, event.names, describeCall({ ...event, id: event.callId }));
  };
  const known = calls.find(({ id }) => id === callId);
  return known?.state === 'ended' ? replay(known, show, context) : follow(callId, { show, display, context });
}

interface Following {
  readonly display: TailDisplay;
  readonly context: RemoteContext;
  show(event: FollowedEvent): void;
}

async function follow(callId: string | undefined, { show, display, context }: Following): Promise<number> {
  const { server, terminal } = context;
  const stop = new AbortController();
  const interruption = new Interruption(() => stop.abort());
  try {
    await followFeed(server, {
      callId,
      clock: systemClock,
      signal: stop.signal,
      onEvent: (event) => {
        show(event);
        const isOver = callId !== undefined && event.type === 'call.ended';
        if (isOver || terminal.out.isClosed) stop.abort();
      },
      onMissing: () => {
        display.end();
        terminal.err.line(
          `trunkline: the records of ${server.url} cannot be read just now; some events are missing here`,
        );
      },
      onLost: () => {
        display.end();
        terminal.err.line(`trunkline: the connection to ${server.url} is lost; it is opened again`);
      },
    });
    return interruption.came ? EXIT_INTERRUPTED : EXIT_OK;
  } finally {
    display.end();
    interruption.ignore();
  }
}

const storedPage = z.object({
  data: z.array(z.object({ id: z.string(), event: z.looseObject({ type: z.string() }) })),
  next: z.string().nullable(),
});

/** A call that has ended has no events to come; its stored ones are all. */
async function replay({ id }: CallAnswer, show: Following['show'], { server }: RemoteContext): Promise<number> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `?${new URLSearchParams({ cursor })}`;
    const page: z.infer<typeof storedPage> = await server.ask('GET', `${callPath(id)}/events${query}`, storedPage);
    for (const entry of page.data) show({ ...(entry.event as unknown as FeedEvent), id: entry.id });
    cursor = page.next;
  }
  return EXIT_OK;
}

/** What the record keeps: words that are not final are for eyes. */
function showAsJson(event: FollowedEvent, { terminal }: RemoteContext): void {
  const passes = event.type === 'speech.started' || event.type === 'speech.stopped';
  if (!passes && !(event.type === 'caption' && !event.final)) terminal.out.line(JSON.stringify(event));
}

/** A call that we make has rung before it starts; one that rang before it was followed is told when it starts. */
function begins(event: FollowedEvent): event is FollowedEvent & (CallStartedEvent | CallRingingEvent) {
  return event.type === 'call.started' || (event.type === 'call.state' && event.state === 'ringing' && 'from' in event);
}

function describeCall(described: Pick<CallAnswer, 'id' | 'carrier' | 'names' | 'from' | 'to'>): string {
  return `${sidesOf(described)}, ${described.id} (${described.carrier})`;
}
