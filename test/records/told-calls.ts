/** Calls that are told to a feed without a carrier, for tests of the records. */
import { randomUUID } from 'node:crypto';
import { type CallParameters, readCallParameters } from '../../src/calls/call-parameters.ts';
import type {
  CallEndedEvent,
  CallStartedEvent,
  CaptionEvent,
  FeedEvent,
  SpokenEvent,
} from '../../src/calls/feed/events.ts';
import { Feed } from '../../src/calls/feed/feed.ts';
import { type Clock, systemClock } from '../../src/foundation/clock.ts';
import { createLog, type Log } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { Records } from '../../src/records/records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { KEPT_AS_IT_IS } from '../helpers/kept-as-it-is.ts';

/** A gateway without carriers: its feed and its records. */
export interface ToldGateway {
  readonly feed: Feed;
  readonly records: Records;
  readonly metrics: Metrics;
  /** Publishes events and waits until they are stored. */
  tell(...events: readonly FeedEvent[]): Promise<void>;
}

/** Parameters of the calls of a test by their ids. */
export type ToldParameters = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Each has a feed of its own epoch. */
export function openToldGateway(
  database: RecordsDatabase,
  {
    clock = systemClock,
    parameters = {},
    log = createLog('silent'),
    history = 10,
    folder = null,
  }: { clock?: Clock; parameters?: ToldParameters; log?: Log; history?: number; folder?: string | null } = {},
): ToldGateway {
  const feed = new Feed({ history, epoch: randomUUID() });
  const metrics = new Metrics();
  const records = new Records({ ...KEPT_AS_IT_IS, database, folder, clock, log, metrics });
  records.follow(feed, {
    get: () => undefined,
    parameters: (id): { own: CallParameters; all: Readonly<Record<string, string>> } | undefined => {
      const all = parameters[id];
      return all && { own: readCallParameters({ parameters: all }), all };
    },
  });
  return {
    feed,
    records,
    metrics,
    tell: async (...events) => {
      for (const event of events) feed.publish(event);
      await records.recorder.settled();
    },
  };
}

/** `call.started` of a Twilio call, with `changes`. */
export function started(callId: string, changes: Partial<CallStartedEvent> = {}): CallStartedEvent {
  return {
    type: 'call.started',
    callId,
    carrier: 'twilio',
    from: '+15550100',
    to: '+15550199',
    startedAt: new Date().toISOString(),
    tracks: ['inbound'],
    names: { inbound: 'Ada', outbound: null },
    agent: null,
    queue: null,
    app: null,
    ...changes,
  };
}

/** The final caption number `utterance` of the caller. */
export function said(callId: string, utterance: number, text: string, changes: Partial<CaptionEvent> = {}): FeedEvent {
  const startMs = utterance * 1000;
  return {
    type: 'caption',
    callId,
    track: 'inbound',
    utterance,
    stable: text,
    tail: '',
    text,
    final: true,
    startMs,
    endMs: startMs + 800,
    lagMs: 120,
    ...changes,
  };
}

/** What the app said and the caller heard of it. */
export function spoke(callId: string, utterance: string, heardText: string, startMs: number): SpokenEvent {
  const endMs = startMs + 500;
  return {
    type: 'spoken',
    callId,
    utterance,
    text: heardText,
    heardText,
    interrupted: false,
    startMs,
    endMs,
    atMs: endMs,
  };
}

/** `call.ended` after a hang-up. */
export function ended(callId: string, durationMs = 5000): CallEndedEvent {
  return { type: 'call.ended', callId, reason: 'hangup', durationMs, handoffData: null };
}
