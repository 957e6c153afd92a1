/** Calls through flows, told to a feed, for tests of the records. */

import type { FeedEvent, FlowInputEvent, FlowOutcome } from '../../../src/calls/feed/events.ts';
import type { FlowEvent } from '../../../src/records/flows/flow-path.ts';
import { ended, started } from '../told-calls.ts';

/** What happens in a call: a step that begins, an answer, or the end. Each comes a second after the one before. */
export type FlowMoment =
  | { readonly step: string; readonly verb?: string; readonly flow?: string; readonly by?: 'key' | 'failed' }
  | { readonly noMatch: string; readonly keys?: true }
  | { readonly match: string }
  | { readonly noInput: true }
  | { readonly end: FlowOutcome };

interface ToldFlow {
  readonly flow?: string;
  readonly version?: string;
  readonly startedAt?: string;
  /** False = the call goes on, unless its flow has ended. */
  readonly isOver?: boolean;
}

/** The events of one call through the flow `shop`. */
export function flowCall(callId: string, moments: readonly FlowMoment[], how: ToldFlow = {}): FeedEvent[] {
  const { flow = 'shop', version = '0a0a0a0a', startedAt = '2026-01-05T10:00:00.000Z', isOver = true } = how;
  const events: FeedEvent[] = [started(callId, { startedAt })];
  events.push({ type: 'flow.started', callId, flow, version, atMs: 0 });
  let at = { flow, step: '' };
  moments.forEach((moment, index) => {
    if ('step' in moment) at = { flow: moment.flow ?? flow, step: moment.step };
    events.push(eventOf(callId, moment, at, flow, index * 1000));
  });
  if (isOver) events.push(ended(callId, moments.length * 1000));
  return events;
}

function eventOf(
  callId: string,
  moment: FlowMoment,
  at: { readonly flow: string; readonly step: string },
  flow: string,
  atMs: number,
): FlowEvent {
  if ('step' in moment) {
    const by = moment.by === undefined ? {} : { by: moment.by };
    return { type: 'flow.step', callId, ...at, verb: moment.verb ?? 'menu', ...by, atMs };
  }
  if ('end' in moment)
    return { type: 'flow.ended', callId, flow, outcome: moment.end, step: at.step, reason: null, atMs };
  const input = (outcome: FlowInputEvent['outcome'], kind: FlowInputEvent['kind'], text: string | null): FlowEvent => {
    return { type: 'flow.input', callId, ...at, kind, outcome, text, value: outcome === 'match' ? text : null, atMs };
  };
  if ('noInput' in moment) return input('noInput', 'none', null);
  if ('match' in moment) return input('match', 'speech', moment.match);
  return input('noMatch', moment.keys === true ? 'keys' : 'speech', moment.noMatch);
}
