/** Events of calls in which somebody says something. */
import type {
  CallEndedEvent,
  CallStartedEvent,
  CaptionEvent,
  HintEvent,
  RevisionEvent,
} from '../../src/calls/feed/events.ts';
import type { Feed } from '../../src/calls/feed/feed.ts';

/** A call begins; `app` = the address of its app. */
export function started(callId: string, app: string | null = null): CallStartedEvent {
  return {
    type: 'call.started',
    callId,
    carrier: 'simulator',
    from: null,
    to: null,
    startedAt: '2026-01-01T12:00:00.000Z',
    tracks: ['inbound', 'outbound'],
    names: { inbound: null, outbound: null },
    agent: null,
    queue: null,
    app,
  };
}

/** A final caption; utterance n begins in second n. */
export function caption(callId: string, utterance: number, text: string, more: Partial<CaptionEvent> = {}) {
  const times = { startMs: utterance * 1000, endMs: utterance * 1000 + 500, lagMs: 100 };
  const event: CaptionEvent = {
    type: 'caption',
    callId,
    track: 'inbound',
    utterance,
    stable: text,
    tail: '',
    text,
    final: true,
    ...times,
    ...more,
  };
  return event;
}

/** A better text of the caption of that number. */
export function revision(callId: string, utterance: number, version: number, text: string): RevisionEvent {
  const times = { startMs: utterance * 1000, endMs: utterance * 1000 + 500 };
  return { type: 'revision', callId, track: 'inbound', utterance, version, text, ...times };
}

/** The call is over. */
export function ended(callId: string): CallEndedEvent {
  return { type: 'call.ended', callId, reason: 'hangup', durationMs: 1000, handoffData: null };
}

/** The hints that `feed` tells from now on. */
export function hintsOf(feed: Feed): HintEvent[] {
  const hints: HintEvent[] = [];
  feed.subscribe({}, ({ event }) => {
    if (event.type === 'hint') hints.push(event);
  });
  return hints;
}
