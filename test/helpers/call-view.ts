/** Calls as the API shows them, for tests that need some. */
import type { CallView } from '../../src/calls/call-view.ts';

/** A live call of which nothing is known yet but its caller, with `changes`. */
export function callView(id: string, changes: Partial<CallView> = {}): CallView {
  return {
    id,
    carrier: 'twilio',
    from: '+15550100',
    to: null,
    names: { inbound: null, outbound: null },
    agent: null,
    queue: null,
    app: null,
    flow: null,
    flowVersion: null,
    appMuted: false,
    appLost: false,
    state: 'live',
    phase: 'live',
    startedAt: '2026-01-01T00:00:00.000Z',
    endedAt: null,
    endReason: null,
    tracks: ['inbound'],
    lagMs: null,
    worstLagMs: null,
    durationMs: 0,
    counts: { finals: 0, spoken: 0, keys: 0, gaps: 0 },
    handoffData: null,
    sip: null,
    outcome: null,
    tags: [],
    sound: null,
    ...changes,
  };
}
