/** Follows a server's caption feed, over broken connections too. */
import type { IncomingMessage } from 'node:http';
import type { FeedEvent } from '../../calls/feed/events.ts';
import { pause } from '../../foundation/abortable-pause.ts';
import { Backoff } from '../../foundation/backoff.ts';
import type { Clock } from '../../foundation/clock.ts';
import { HEARTBEAT_MS } from '../../http/server/server-sent-events.ts';
import { readBody } from '../../simulator/http-answer.ts';
import { refusalFrom, type ServerClient, ServerRefused } from '../server-client.ts';

/** The server gives a sign of life every {@link HEARTBEAT_MS}. */
const SILENT_MS = 3 * HEARTBEAT_MS;
const PAUSES = { firstMs: 500, longestMs: 10_000, jitterShare: 0.3 };

/** An event and the feed's id of it. */
export type FollowedEvent = FeedEvent & { readonly id: string };

/** What the server says to a reader that resumes when its record cannot be read. */
interface MissingEvents {
  readonly type: 'events.missing';
  readonly id: string;
}

interface FollowOptions {
  /** Only this call, from its beginning; undefined = all calls, from now on. */
  readonly callId: string | undefined;
  readonly clock: Clock;
  /** Ends it. */
  readonly signal: AbortSignal;
  onEvent(event: FollowedEvent): void;
  /** Between the last event and the next the server could not give some. */
  onMissing(): void;
  /** The connection is lost, and will be opened again. */
  onLost(): void;
}

/**
 * Resolves when `signal` aborts. A lost connection is opened again until that succeeds, and no event that the server
 * still has is missed.
 * @throws ServerRefused when the server does not open the feed at first, or does not let us in any more
 */
export async function followFeed(server: ServerClient, options: FollowOptions): Promise<void> {
  const { callId, clock, signal, onEvent, onMissing, onLost } = options;
  const backoff = new Backoff(PAUSES);
  const query = new URLSearchParams({ ids: 'true' });
  if (callId !== undefined) query.set('call', callId);
  if (callId !== undefined) query.set('after', 'start');
  let wasOpen = false;
  while (!signal.aborted) {
    try {
      await readFeed(server, `/v1/captions?${query}`, {
        clock,
        signal,
        onOpen: () => {
          wasOpen = true;
          backoff.restart();
        },
        onEvent: (event) => {
          query.set('after', event.id);
          if (event.type === 'events.missing') onMissing();
          else onEvent(event);
        },
      });
    } catch (error) {
      if (!wasOpen || !mayPass(error)) throw error;
    }
    if (signal.aborted) return;
    onLost();
    await pause(clock, backoff.next(), signal);
  }
}

/** Nobody answers, or somebody who is too busy or stops. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof ServerRefused)) return false;
  return error.status === null || error.status === 429 || error.status >= 500;
}

interface Reading {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  onOpen(): void;
  onEvent(event: FollowedEvent | MissingEvents): void;
}

/** Resolves when the connection is over. @throws ServerRefused when it was not opened */
async function readFeed(server: ServerClient, path: string, reading: Reading): Promise<void> {
  const { clock, signal, onOpen, onEvent } = reading;
  const socket = server.socket(path);
  const end = (): void => socket.terminate();
  let watch = clock.after(SILENT_MS, end);
  const alive = (): void => {
    watch.cancel();
    watch = clock.after(SILENT_MS, end);
  };
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('open', onOpen);
      socket.on('ping', alive);
      socket.on('message', (data: Buffer) => {
        alive();
        if (!signal.aborted) onEvent(JSON.parse(data.toString()) as FollowedEvent | MissingEvents);
      });
      socket.once('close', () => resolve());
      socket.once('unexpected-response', (_request, answer: IncomingMessage) => {
        void refusalOf(server.url, answer).then((refusal) => {
          reject(refusal);
          socket.terminate();
        });
      });
      socket.on('error', ({ message }) => {
        if (signal.aborted) resolve();
        else reject(new ServerRefused(`${server.url} does not answer (${message})`));
      });
    });
  } finally {
    watch.cancel();
    signal.removeEventListener('abort', end);
  }
}

async function refusalOf(url: string, answer: IncomingMessage): Promise<ServerRefused> {
  const body = await readBody(answer);
  let json: unknown = null;
  try {
    json = JSON.parse(body);
  } catch {
    // It is not Trunkline's then, and its status must do.
  }
  return refusalFrom(url, answer.statusCode ?? 0, json);
}
