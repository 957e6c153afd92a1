/** What a gateway's feed tells of its calls, with the times at which it came. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import type { HeardFinal } from './listen-endpoints.ts';

/** The final captions of a call as they were told first, whatever revised them later. */
export interface CallFeed {
  /** Resolves when the call whose id has `callId` in it has ended. */
  finalsOf(callId: string): Promise<HeardFinal[]>;
  close(): void;
}

interface Told {
  readonly event: FeedEvent;
  readonly atMs: number;
}

/** Opens the feed of the gateway at `url`, one for all sessions: each event comes once. */
export async function openCallFeed(url: string): Promise<CallFeed> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/captions`);
  const calls = new Map<string, Told[]>();
  const listeners = new Set<() => void>();
  socket.on('message', (data: Buffer) => {
    const told = { event: JSON.parse(data.toString()) as FeedEvent, atMs: systemClock.nowMs() };
    const before = calls.get(told.event.callId);
    if (before === undefined) calls.set(told.event.callId, [told]);
    else before.push(told);
    if (told.event.type === 'call.ended') for (const listener of listeners) listener();
  });
  await once(socket, 'open');
  const endedCall = (callId: string): Told[] | null => {
    const [, told] = [...calls].find(([id]) => id.includes(callId)) ?? [];
    return told?.at(-1)?.event.type === 'call.ended' ? told : null;
  };
  return {
    finalsOf: (callId) =>
      new Promise((resolve) => {
        const look = (): void => {
          const told = endedCall(callId);
          if (told === null) return;
          listeners.delete(look);
          resolve(finalsIn(told));
        };
        listeners.add(look);
        look();
      }),
    close: () => socket.close(),
  };
}

/** A call begins with its audio. */
function finalsIn(told: readonly Told[]): HeardFinal[] {
  const startedMs = told.find(({ event }) => event.type === 'call.started')?.atMs ?? Number.NaN;
  return told.flatMap(({ event, atMs }) =>
    event.type === 'caption' && event.final
      ? {
          voice: event.track === 'inbound' ? 0 : 1,
          text: event.text,
          endMs: event.endMs,
          arrivedMs: atMs - startedMs,
        }
      : [],
  );
}
