/** Readers of the feed by Server-Sent Events, which say where they were when they come back. */
import type { CaptionEvent, FeedEvent } from '../../src/calls/feed/events.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';

/** A browser waits longer; the event source says how long. */
const RETRY_MS = 100;

/** An event, and the id under which it was told. */
export interface Told {
  readonly id: string;
  readonly event: FeedEvent;
}

interface ReadOptions {
  readonly signal?: AbortSignal;
  /** The gateway has answered: what happens from now on comes. */
  readonly onOpen?: () => void;
}

/**
 * Reads the feed at `url` after the event `last`, until it ends or whoever reads breaks off.
 * @throws Error when the gateway does not answer with a feed, or its connection breaks
 */
export async function* readEvents(
  url: string,
  last: string | null,
  { signal, onOpen }: ReadOptions = {},
): AsyncGenerator<Told> {
  const headers = last === null ? {} : { 'last-event-id': last };
  const response = await fetch(`${url}/v1/captions`, { headers, ...(signal && { signal }) });
  if (!response.ok) throw new Error(`GET /v1/captions answered ${response.status}`);
  onOpen?.();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString('utf8');
    for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
      const [, id, data] = /^id: (.*)\ndata: (.*)$/m.exec(text.slice(0, at)) ?? [];
      text = text.slice(at + 2);
      if (id !== undefined && data !== undefined) yield { id, event: JSON.parse(data) as FeedEvent };
    }
  }
}

/** A reader that comes back with `Last-Event-ID` whenever its connection ends. */
export interface ResumingReader {
  /** All that came, in its order. */
  readonly told: readonly Told[];
  /** How often it came back. */
  readonly resumed: number;
  /** The finals of a call so far. */
  finals(callId: string): readonly CaptionEvent[];
  /** The calls whose end it was told, each as often as it was. */
  ended(): readonly string[];
  close(): void;
}

/** Opens the feed at `url`, after `last`, and later at `next`. Resolves when the first connection is open. */
export async function resumeAt(url: string, next: string, last: string | null = null): Promise<ResumingReader> {
  const told: Told[] = [];
  const aborter = new AbortController();
  const { signal } = aborter;
  let connections = 0;
  const follow = async (onOpen: () => void): Promise<void> => {
    while (!signal.aborted) {
      const at = connections++ === 0 ? url : next;
      try {
        for await (const each of readEvents(at, told.at(-1)?.id ?? last, { signal, onOpen })) told.push(each);
      } catch {
        // As an event source: it tries again, whatever it was.
      }
      if (!signal.aborted) await sleep(systemClock, RETRY_MS);
    }
  };
  await new Promise<void>((resolve) => void follow(resolve));
  const events = (): readonly FeedEvent[] => told.map(({ event }) => event);
  return {
    told,
    get resumed() {
      return connections - 1;
    },
    finals: (callId) =>
      events().filter(
        (event): event is CaptionEvent => event.type === 'caption' && event.final && event.callId === callId,
      ),
    ended: () => events().flatMap((event) => (event.type === 'call.ended' ? event.callId : [])),
    close: () => aborter.abort(),
  };
}
