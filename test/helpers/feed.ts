/** Reads a gateway's caption feed over its public WebSocket, as any program would. */
import { WebSocket } from 'ws';
import type { CaptionEvent, FeedEvent } from '../../src/calls/feed/events.ts';

/** An open reader of the feed. */
export interface FeedReader {
  /** Everything said so far, in order. */
  readonly events: readonly FeedEvent[];
  /** Resolves with the first event, past or future, that `wanted` accepts. Rejects when the feed closes first. */
  until(wanted: (event: FeedEvent) => boolean): Promise<FeedEvent>;
  /** The final captions of one call so far. */
  finals(callId: string): CaptionEvent[];
  close(): void;
}

interface Waiter {
  readonly wanted: (event: FeedEvent) => boolean;
  readonly resolve: (event: FeedEvent) => void;
  readonly reject: (error: Error) => void;
}

/** Opens the feed of the gateway at `url` (all calls); resolves when the socket is open. */
export async function readFeed(url: string): Promise<FeedReader> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/captions`);
  const events: FeedEvent[] = [];
  const waiters = new Set<Waiter>();
  socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString('utf8')) as FeedEvent;
    events.push(event);
    for (const waiter of waiters) if (waiter.wanted(event)) settle(waiters, waiter, event);
  });
  socket.on('close', () => {
    for (const waiter of waiters) waiter.reject(new Error('the feed closed before the awaited event'));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', reject);
  });
  return {
    events,
    until(wanted) {
      const past = events.find(wanted);
      if (past !== undefined) return Promise.resolve(past);
      return new Promise((resolve, reject) => waiters.add({ wanted, resolve, reject }));
    },
    finals: (callId) =>
      events.filter(
        (event): event is CaptionEvent => event.type === 'caption' && event.final && event.callId === callId,
      ),
    close: () => socket.close(),
  };
}

function settle(waiters: Set<Waiter>, waiter: Waiter, event: FeedEvent): void {
  waiters.delete(waiter);
  waiter.resolve(event);
}
