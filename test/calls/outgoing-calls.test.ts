/** Calls that we make, from the dialling to the answer or to none. */

import { SpanKind } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import type { LegEnd, LegHandlers } from '../../src/calls/leg.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import type { CallStart } from '../../src/protocols/dialect.ts';
import { settle } from '../fakes/clock.ts';
import { SpanTree } from '../tracing/span-tree.ts';
import { type Gateway, startCalls } from './harness.ts';

const NUMBERS = { callId: 'out-1', from: null, to: '+14155550100' };
const NAMED = { ...NUMBERS, parameters: { callerName: 'Maria K.' } };

/** The far side of a call that we make, in the hand of the test. */
class FarSide {
  readonly closed: string[] = [];
  handlers: LegHandlers | null = null;

  constructor(gateway: Gateway) {
    gateway.registry.accept({
      carrier: 'sip',
      tokenRequired: false,
      trusted: true,
      outgoing: NAMED,
      connect: (handlers) => {
        this.handlers = handlers;
        const ignore = (): void => undefined;
        const close = (code: number): void => void this.closed.push(`close ${code}`);
        return { send: ignore, pause: ignore, resume: ignore, close, fail: (error) => this.closed.push(error.code) };
      },
    });
  }

  answer(): void {
    const start: CallStart = {
      ...NUMBERS,
      carrier: 'sip',
      streamId: 'tag',
      tracks: ['inbound'],
      codec: MULAW_8K,
      playback: 'paced',
      parameters: {},
    };
    this.handlers?.onEvent({ type: 'start', start });
  }

  end(reason: LegEnd['reason']): void {
    this.handlers?.onClosed({ reason, code: null, error: null });
  }
}

/** What the feed says after the first event of such a call. */
function types({ events }: Gateway): string[] {
  const [first, ...others] = events;
  expect(first).toEqual({
    type: 'call.state',
    callId: 'out-1',
    state: 'ringing',
    atMs: 0,
    carrier: 'sip',
    from: null,
    to: '+14155550100',
    names: { inbound: 'Maria K.', outbound: null },
    agent: null,
    queue: null,
    startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  return others.map((event) => (event.type === 'call.ended' ? event.reason : event.type));
}

describe('a call that we make', () => {
  it('is to be seen from the first moment, and takes up a place', () => {
    const gateway = startCalls();
    new FarSide(gateway);
    const ringing = {
      id: 'out-1',
      carrier: 'sip',
      from: null,
      to: '+14155550100',
      names: { inbound: 'Maria K.', outbound: null },
      state: 'dialing',
      phase: 'ringing',
      endedAt: null,
      endReason: null,
    };
    expect(gateway.registry.get('out-1')).toMatchObject(ringing);
    expect(gateway.registry.list()).toEqual([gateway.registry.get('out-1')]);
    expect(gateway.registry.liveCount).toBe(1);
    expect(types(gateway)).toEqual([]);
  });

  it('begins under the same id when it is answered', () => {
    const gateway = startCalls();
    new FarSide(gateway).answer();
    expect(gateway.registry.list()).toMatchObject([{ id: 'out-1', state: 'live', to: '+14155550100' }]);
    expect(types(gateway)).toEqual(['call.started']);
    expect(gateway.registry.liveCount).toBe(1);
  });

  it.each(['busy', 'unanswered', 'refused', 'timeout'] as const)(
    'that comes to nothing is an ended call: %s',
    (reason) => {
      const gateway = startCalls();
      new FarSide(gateway).end(reason);
      expect(gateway.registry.get('out-1')).toMatchObject({ state: 'ended', endReason: reason, durationMs: 0 });
      expect(gateway.registry.summary('out-1')?.transcript).toEqual([]);
      expect(types(gateway)).toEqual([reason]);
      expect(gateway.registry.liveCount).toBe(0);
    },
  );

  it('is given up by a hang-up while it rings, once', () => {
    const gateway = startCalls();
    const far = new FarSide(gateway);
    expect(gateway.registry.hangup('out-1')).toBe(true);
    expect(gateway.registry.hangup('out-1')).toBe(false);
    far.end('closed');
    expect(far.closed).toEqual(['close 1000']);
    expect(types(gateway)).toEqual(['api']);
    expect(gateway.registry.get('out-1')).toMatchObject({ state: 'ended', endReason: 'api' });
  });

  it('is hung up like any other once it is answered', async () => {
    const gateway = startCalls();
    const far = new FarSide(gateway);
    far.answer();
    expect(gateway.registry.hangup('out-1')).toBe(true);
    await settle();
    expect(far.closed).toEqual(['close 1000']);
    expect(types(gateway)).toEqual(['call.started', 'api']);
  });

  it('is given up when the gateway shuts down', async () => {
    const gateway = startCalls();
    const far = new FarSide(gateway);
    await gateway.registry.drain(0);
    expect(far.closed).toEqual(['draining']);
    expect(types(gateway)).toEqual(['drained']);
  });

  it('is traced from its dialling, whether it is answered or not', async () => {
    const spans = new SpanTree();
    const gateway = startCalls({}, null, (clock) => spans.open(clock));
    const answered = new FarSide(gateway);
    await gateway.clock.run(3000);
    answered.answer();
    await gateway.clock.run(2000);
    answered.end('closed');
    await gateway.clock.run(100);
    expect(spans.lines).toEqual(['call 0+5010']);
    expect(spans.of('call')[0]?.events.map(({ name }) => name)).toEqual(['answered']);
    new FarSide(gateway).end('busy');
    const kinds = spans
      .of('call')
      .map(({ kind, attributes }) => [
        kind,
        attributes['trunkline.call.direction'],
        attributes['trunkline.call.end_reason'],
      ]);
    expect(kinds).toEqual([
      [SpanKind.CLIENT, 'outgoing', 'closed'],
      [SpanKind.CLIENT, 'outgoing', 'busy'],
    ]);
  });
});
