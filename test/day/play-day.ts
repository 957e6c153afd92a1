/**
 * Plays a planned day into the records of a folder, much faster than it was. The calls' events are published at a feed,
 * and from there on everything is the gateway's own: redaction, hints, recorder, database. Only the clock is not: it
 * shows when the event would have been.
 */
import type { CallParameters } from '../../src/calls/call-parameters.ts';
import { readCallParameters } from '../../src/calls/call-parameters.ts';
import type { CallView } from '../../src/calls/call-view.ts';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { type Clock, systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import type { Settings } from '../../src/foundation/settings/settings.ts';
import { openHints } from '../../src/hints/open-hints.ts';
import { openFeed } from '../../src/records/open-feed.ts';
import { openRecords } from '../../src/records/open-records.ts';
import { callView } from '../helpers/call-view.ts';
import type { PlannedCall } from './day-plan.ts';

/** So many events may wait for the database. */
const AHEAD_MAX = 2000;

interface Moment {
  readonly wallMs: number;
  readonly event: FeedEvent;
}

/** What was played. */
export interface PlayedDay {
  readonly calls: number;
  readonly events: number;
  readonly tookMs: number;
}

/**
 * Plays the calls. At `deathMs` the gateway of that day dies with the calls that it has, and another one goes on.
 * @throws what the folder of `settings` is refused with
 */
export async function playDay(
  calls: readonly PlannedCall[],
  settings: Settings,
  { deathMs }: { readonly deathMs: number },
): Promise<PlayedDay> {
  const startedMs = systemClock.nowMs();
  const moments = calls.flatMap(momentsOf).sort((a, b) => a.wallMs - b.wallMs);
  const dead = new Set(calls.filter(({ startMs }) => startMs < deathMs).map(({ id }) => id));
  const before = moments.filter(({ wallMs }) => wallMs < deathMs);
  const after = moments.filter(({ wallMs, event }) => wallMs >= deathMs && !dead.has(event.callId));
  const known = new Map(calls.map((call) => [call.id, call]));
  await playUntil(before, known, settings, deathMs - 4000);
  await playUntil(after, known, settings, null);
  return { calls: calls.length, events: before.length + after.length, tookMs: systemClock.nowMs() - startedMs };
}

/** The life of one gateway: what it had when it was killed at `deathMs` is lost by the next one (null = it ends). */
async function playUntil(
  moments: readonly Moment[],
  calls: ReadonlyMap<string, PlannedCall>,
  settings: Settings,
  deathMs: number | null,
): Promise<void> {
  let wallMs = moments[0]?.wallMs ?? 0;
  const clock: Clock = { ...systemClock, wall: () => new Date(wallMs) };
  const log = createLog('warn');
  const metrics = new Metrics();
  const kept = await openRecords({ settings, clock, log, metrics });
  const { records } = kept;
  if (records === null) throw new Error('the day is to be kept, and DATA_DIR keeps nothing');
  const { feed, close } = openFeed(settings, { clock });
  const registry = new PlannedCalls(calls);
  records.follow(feed, registry);
  await records.recover(feed);
  const hints = await openHints({ settings, feed, registry, clock, log, metrics });
  for (const moment of moments) {
    wallMs = moment.wallMs;
    feed.publish(moment.event);
    if (records.recorder.backlog > AHEAD_MAX) await records.recorder.settled();
  }
  if (deathMs !== null) wallMs = deathMs;
  await records.recorder.settled();
  await hints.close();
  close();
  await kept.close();
}

/** What the recorder and the hints ask of the calls of a gateway. */
class PlannedCalls {
  readonly #calls: ReadonlyMap<string, PlannedCall>;

  constructor(calls: ReadonlyMap<string, PlannedCall>) {
    this.#calls = calls;
  }

  get(id: string): CallView | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    const { carrier, from, to, names, agent, queue, app, startMs } = call;
    const startedAt = new Date(startMs).toISOString();
    return callView(id, { carrier, from, to, names, agent, queue, app, startedAt, state: 'dialing', tracks: [] });
  }

  parameters(id: string): { own: CallParameters; all: Readonly<Record<string, string>> } | undefined {
    const call = this.#calls.get(id);
    return call && { own: readCallParameters({ parameters: parametersOf(call) }), all: parametersOf(call) };
  }
}

/** The parameters with which a carrier would send the call. */
export function parametersOf({ names, agent, queue }: Pick<PlannedCall, 'names' | 'agent' | 'queue'>) {
  const given = { callerName: names.inbound, agentName: names.outbound, agent, queue };
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== null));
}

function momentsOf(call: PlannedCall): Moment[] {
  const { startMs, ringsMs, events } = call;
  const rings: Moment[] = ringsMs === 0 ? [] : [{ wallMs: startMs, event: ringingOf(call) }];
  const beginMs = startMs + (ringsMs ?? 0);
  const started: Moment[] = ringsMs === null ? [] : [{ wallMs: beginMs, event: startOf(call, beginMs) }];
  return [...rings, ...started, ...events.map(({ atMs, event }) => ({ wallMs: beginMs + atMs, event }))];
}

function ringingOf({ id, carrier, from, to, names, agent, queue, startMs }: PlannedCall): FeedEvent {
  const startedAt = new Date(startMs).toISOString();
  const parties = { carrier, from, to, names, agent, queue, startedAt };
  return { type: 'call.state', callId: id, state: 'ringing', atMs: 0, ...parties };
}

function startOf({ id, carrier, from, to, names, agent, queue, app }: PlannedCall, beginMs: number): FeedEvent {
  return {
    type: 'call.started',
    callId: id,
    carrier,
    from,
    to,
    startedAt: new Date(beginMs).toISOString(),
    tracks: app === null ? ['inbound', 'outbound'] : ['inbound'],
    names,
    agent,
    queue,
    app,
  };
}
