/** Reads a gateway's caption feed through its public door. */
import { WebSocket } from 'ws';
import type { FeedEvent } from '../calls/events.ts';

/** An open caption feed. */
export interface FeedClient {
  /** Resolves when the call has ended; rejects when the feed is cut before. */
  readonly callEnded: Promise<void>;
  close(): void;
}

/**
 * Opens the feed of one call, which need not have begun, at the gateway `url` (`http://…`). Resolves when events can come.
 * @throws Error when the gateway does not open it.
 */
export async function openFeed(url: string, callId: string, onEvent: (event: FeedEvent) => void): Promise<FeedClient> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/captions?call=${encodeURIComponent(callId)}`, {
    perMessageDeflate: false,
  });
  const callEnded = new Promise<void>((resolve, reject) => {
    socket.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString()) as FeedEvent;
      onEvent(event);
      if (event.type === 'call.ended') resolve();
    });
    socket.once('close', () => reject(new Error('the caption feed was cut')));
  });
  callEnded.catch(() => undefined);
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.on('error', reject);
  });
  return { callEnded, close: () => socket.close() };
}
