/** Reads a gateway's caption feed through its public WebSocket. */
import { WebSocket } from 'ws';
import type { FeedEvent } from '../calls/feed/events.ts';

/** An open caption feed. */
export interface FeedClient {
  /** Resolves when the call has ended; rejects when the feed is cut before. */
  readonly callEnded: Promise<void>;
  close(): void;
}

/**
 * Opens the feed of one call, which need not have begun, at the gateway `url` (`http://…`). Resolves when events can
 * come.
 * @throws Error when the gateway does not open it.
 */
export async function openFeed(url: string, callId: string, onEvent: (event: FeedEvent) => void): Promise<FeedClient> {
  const socket = openSocket(url, `?call=${encodeURIComponent(callId)}`);
  const callEnded = new Promise<void>((resolve, reject) => {
    socket.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString()) as FeedEvent;
      onEvent(event);
      if (event.type === 'call.ended') resolve();
    });
    socket.once('close', () => reject(new Error('the caption feed was cut')));
  });
  callEnded.catch(() => undefined);
  await untilOpen(socket);
  return { callEnded, close: () => socket.close() };
}

/**
 * Opens the feed of all calls. Resolves, when events can come, with the function that closes it.
 * @throws Error when the gateway does not open it.
 */
export async function openWholeFeed(url: string, onEvent: (event: FeedEvent) => void): Promise<() => void> {
  const socket = openSocket(url, '');
  socket.on('message', (data: Buffer) => onEvent(JSON.parse(data.toString()) as FeedEvent));
  await untilOpen(socket);
  return () => socket.close();
}

function openSocket(url: string, query: string): WebSocket {
  return new WebSocket(`${url.replace(/^http/, 'ws')}/v1/captions${query}`, { perMessageDeflate: false });
}

function untilOpen(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.on('error', reject);
  });
}
