import { describe, expect, it } from 'vitest';
import { CallRegistry } from '../../src/calls/registry.ts';
import { WebSocketTrunk } from '../../src/carriers/shared/websocket/trunk.ts';
import { TwilioDialect } from '../../src/carriers/shared/wire/twilio-media.ts';
import { TrunklineError } from '../../src/foundation/errors.ts';
import { CarrierSocket } from '../fakes/carrier-socket.ts';
import { settle } from '../fakes/clock.ts';
import { callView } from '../helpers/call-view.ts';
import { Caller, type Gateway, metricValue, startCalls } from './harness.ts';

const codeOf = (action: () => void): string | null => {
  try {
    action();
    return null;
  } catch (error) {
    return error instanceof TrunklineError ? error.code : String(error);
  }
};
const ids = (gateway: Gateway) => gateway.registry.list().map((call) => `${call.id} ${call.state}`);
const reasons = (gateway: Gateway) =>
  gateway.events.flatMap((event) => (event.type === 'call.ended' ? [`${event.callId} ${event.reason}`] : []));

describe('CallRegistry', () => {
  it('shows a call while it is live and after', async () => {
    const gateway = startCalls();
    const caller = gateway
      .dial()
      .start({ tracks: ['inbound', 'outbound'], parameters: { from: '+15550001', to: '+15550002' } });
    const live = callView('CA1', { from: '+15550001', to: '+15550002', tracks: ['inbound', 'outbound'] });
    expect(gateway.registry.get('CA1')).toEqual(live);
    const captioned = {
      lagMs: expect.any(Number),
      worstLagMs: expect.any(Number),
      durationMs: 600,
      counts: { finals: 1, spoken: 0, keys: 0, gaps: 0 },
    };
    caller.speak(600);
    await gateway.clock.run(1000);
    expect(gateway.registry.get('CA1')).toEqual({ ...live, ...captioned });
    caller.stop();
    await settle();
    const ended = {
      ...live,
      ...captioned,
      state: 'ended',
      phase: null,
      endedAt: '2026-01-01T00:00:01.000Z',
      endReason: 'hangup',
    };
    expect(gateway.registry.get('CA1')).toEqual(ended);
    expect(gateway.registry.list()).toEqual([ended]);
    expect(gateway.registry.summary('CA1')?.transcript).toHaveLength(1);
  });

  it('shows the call as it is when the feed tells of it', async () => {
    const gateway = startCalls();
    const states: unknown[] = [];
    gateway.context.feed.subscribe({}, ({ event }) => states.push(gateway.registry.get(event.callId)?.state));
    gateway.dial().start().stop();
    await settle();
    expect(states).toEqual(['live', 'ended']);
  });

  it('knows nothing of a call it never had', () => {
    const { registry } = startCalls();
    expect([registry.get('CA1'), registry.summary('CA1')?.transcript, registry.hangup('CA1'), registry.list()]).toEqual(
      [undefined, undefined, false, []],
    );
  });

  it('lists live calls before ended ones, each latest first', async () => {
    const gateway = startCalls();
    for (const callSid of ['CA1', 'CA2', 'CA3', 'CA4']) gateway.dial().start({ callSid });
    gateway.registry.hangup('CA1');
    gateway.registry.hangup('CA3');
    await settle();
    expect(ids(gateway)).toEqual(['CA4 live', 'CA2 live', 'CA3 ended', 'CA1 ended']);
  });

  it('forgets ended calls beyond CALLS_KEPT', async () => {
    const gateway = startCalls({ CALLS_KEPT: '1' });
    for (const callSid of ['CA1', 'CA2']) gateway.dial().start({ callSid }).stop();
    await settle();
    expect(ids(gateway)).toEqual(['CA2 ended']);
  });

  it('wakes the engine at the first sign of a call, before its socket comes, unless it is refused', () => {
    const gateway = startCalls({ MAX_CALLS: '1' });
    gateway.registry.admit();
    expect(gateway.engine.wakes).toBe(1);
    gateway.dial();
    expect(gateway.engine.wakes).toBe(2);
    expect(() => gateway.registry.admit()).toThrow();
    expect(gateway.engine.wakes).toBe(2);
  });

  it('counts live and ended calls', async () => {
    const live = () => metricValue('trunkline_calls_live', { carrier: 'twilio' });
    const ended = () => metricValue('trunkline_calls_ended_total', { carrier: 'twilio', reason: 'closed' });
    const [liveBefore, endedBefore] = [await live(), await ended()];
    const gateway = startCalls();
    const { socket } = gateway.dial().start();
    expect((await live()) - liveBefore).toBe(1);
    socket.hangUp();
    await settle();
    expect([(await live()) - liveBefore, (await ended()) - endedBefore]).toEqual([0, 1]);
  });

  it('ends a call on hang-up so that Twilio goes on with its TwiML', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start().speak(600);
    expect(gateway.registry.hangup('CA1')).toBe(true);
    await gateway.clock.run(100);
    expect(caller.socket.closedWith?.code).toBe(1000);
    expect(reasons(gateway)).toEqual(['CA1 api']);
    expect(gateway.registry.summary('CA1')?.transcript).toHaveLength(1);
    expect(gateway.registry.hangup('CA1')).toBe(false);
  });
});

describe('names of calls', () => {
  it("adds the stream's name to a second live stream of a call", () => {
    const gateway = startCalls();
    gateway.dial().start({ callSid: 'CA1', streamSid: 'MZ1' });
    gateway.dial().start({ callSid: 'CA1', streamSid: 'MZ2' });
    expect(ids(gateway)).toEqual(['CA1:MZ2 live', 'CA1 live']);
  });

  it('does not let a later stream hide an ended one that is still readable', async () => {
    const gateway = startCalls();
    gateway.dial().start({ streamSid: 'MZ1' }).stop();
    await settle();
    gateway.dial().start({ streamSid: 'MZ2' });
    expect(ids(gateway)).toEqual(['CA1:MZ2 live', 'CA1 ended']);
  });

  it('does not let a later stream take the id of a stored one, whatever the carrier names it', async () => {
    const archive = { latestCallIds: async () => ['CA1', 'CA2:MZ2', 'CA2'] };
    const gateway = startCalls();
    const registry = new CallRegistry({ ...gateway.context, archive });
    await settle();
    const { settings, clock } = gateway.context;
    const webSockets = new WebSocketTrunk({ registry, feed: gateway.context.feed, settings, clock });
    for (const callSid of ['CA1', 'CA2', 'CA3']) {
      const socket = new CarrierSocket();
      webSockets.accept(socket.asWebSocket, new TwilioDialect(), {});
      new Caller(socket).start({ callSid, streamSid: 'MZ2' });
    }
    gateway.context.feed.publish({ type: 'call.deleted', callId: 'CA1' });
    expect(registry.list().map(({ id }) => id)).toEqual([
      'CA3',
      expect.stringMatching(/^CA2:MZ2:[\da-f-]{36}$/),
      'CA1:MZ2',
    ]);
  });

  it('refuses a stream that is live already', async () => {
    const gateway = startCalls();
    gateway.dial().start();
    gateway.dial().start();
    const { socket } = gateway.dial().start();
    await settle();
    expect(socket.closedWith?.code).toBe(4401);
    expect(ids(gateway)).toEqual(['CA1:MZ1 live', 'CA1 live']);
    expect(gateway.registry.liveCount).toBe(2);
  });

  it.each(['', 'with space', 'tab\t', 'ü', 'x'.repeat(129)])('refuses the call name "%s"', async (callSid) => {
    const gateway = startCalls();
    const { socket } = gateway.dial().start({ callSid });
    await settle();
    expect(socket.closedWith?.code).toBe(1007);
    expect([gateway.events, gateway.registry.liveCount]).toEqual([[], 0]);
  });
});

describe('the call token', () => {
  const PARTIES = { from: '+15550001', to: '+15550002' };

  it('lets a call in and says who calls, whatever the parameters say', () => {
    const gateway = startCalls();
    const token = gateway.registry.tokens.issue({ callId: 'CA1', ...PARTIES });
    gateway.dial({ tokenRequired: true }).start({ parameters: { token, from: 'someone else' } });
    expect(gateway.registry.get('CA1')).toMatchObject({ state: 'live', ...PARTIES });
  });

  it('says who calls where it is not required, too', () => {
    const gateway = startCalls();
    const token = gateway.registry.tokens.issue({ callId: 'CA1', ...PARTIES });
    gateway.dial().start({ parameters: { token } });
    expect(gateway.registry.get('CA1')).toMatchObject(PARTIES);
  });

  it.each([
    ['is missing', () => ({})],
    ['was never issued', () => ({ token: 'guess' })],
    [
      "is another call's",
      (gateway: Gateway) => ({ token: gateway.registry.tokens.issue({ callId: 'CA2', ...PARTIES }) }),
    ],
  ])('keeps a call out when it %s', async (_, parametersOf) => {
    const gateway = startCalls();
    const { socket } = gateway.dial({ tokenRequired: true }).start({ parameters: parametersOf(gateway) });
    await settle();
    expect(socket.closedWith?.code).toBe(4403);
    expect([gateway.events, gateway.registry.list(), gateway.registry.liveCount, gateway.clock.pending]).toEqual([
      [],
      [],
      0,
      0,
    ]);
  });

  it('opens one stream only', async () => {
    const gateway = startCalls();
    const token = gateway.registry.tokens.issue({ callId: 'CA1', ...PARTIES });
    gateway.dial({ tokenRequired: true }).start({ parameters: { token } });
    const second = gateway.dial({ tokenRequired: true }).start({ streamSid: 'MZ2', parameters: { token } });
    await settle();
    expect(second.socket.closedWith?.code).toBe(4403);
    expect(ids(gateway)).toEqual(['CA1 live']);
  });
});

describe('admission', () => {
  it('counts sockets that have not begun as well as live calls', async () => {
    const gateway = startCalls({ MAX_CALLS: '2' });
    gateway.dial();
    expect(codeOf(() => gateway.registry.admit())).toBeNull();
    const caller = gateway.dial().start();
    expect(codeOf(() => gateway.registry.admit())).toBe('too_many_calls');
    caller.socket.hangUp();
    await settle();
    expect(codeOf(() => gateway.registry.admit())).toBeNull();
  });

  it('takes as many calls as other servers have room for, where nobody said how many', async () => {
    const { context, clock } = startCalls();
    const settings = { ...context.settings, MAX_CALLS: 1, isMaxCallsMeasured: true };
    const registry = new CallRegistry({ ...context, settings });
    const webSockets = new WebSocketTrunk({ registry, feed: context.feed, settings, clock: context.clock });
    const dial = () => {
      const socket = new CarrierSocket();
      webSockets.accept(socket.asWebSocket, new TwilioDialect(), {});
      new Caller(socket).start({ callSid: `CA${registry.liveCount}`, streamSid: 'MZ' });
    };
    dial();
    expect(codeOf(() => registry.admit())).toBe('too_many_calls');
    Object.assign(context.engine, { remoteUse: 0.1 });
    clock.advance(59_000);
    expect(codeOf(() => registry.admit())).toBeNull();
    dial();
    const exposed = await context.metrics.registry.getSingleMetric('trunkline_calls_max')?.get();
    expect([registry.liveCount, registry.callsMax, exposed?.values[0]?.value]).toEqual([2, 2, 2]);
    Object.assign(context.engine, { remoteUse: null });
    expect(codeOf(() => registry.admit())).toBe('too_many_calls');
  });

  it('has the place of a caller who hung up at once, however long his last captions take', async () => {
    const gateway = startCalls({ MAX_CALLS: '1' });
    gateway.engine.held = true;
    const { socket } = gateway.dial().start().speak(600);
    socket.hangUp();
    expect([gateway.registry.liveCount, gateway.registry.endingCount]).toEqual([0, 1]);
    gateway.dial().start({ callSid: 'CA2' });
    expect(ids(gateway)).toEqual(['CA2 live', 'CA1 live']);
    gateway.engine.release();
    await gateway.clock.run(100);
    expect(reasons(gateway)).toEqual(['CA1 closed']);
    expect(gateway.registry.summary('CA1')?.transcript).toHaveLength(1);
    expect([gateway.registry.liveCount, gateway.registry.endingCount]).toEqual([1, 0]);
  });

  it('refuses new calls while captions of live calls come late, unless engines are still being started', async () => {
    const gateway = startCalls();
    const callers = ['CA1', 'CA2'].map((callSid) => gateway.dial().start({ callSid }));
    gateway.engine.held = true;
    for (const caller of callers) caller.speak(600);
    await gateway.clock.run(1900);
    expect(codeOf(() => gateway.registry.admit())).toBeNull();
    await gateway.clock.run(200);
    expect(codeOf(() => gateway.registry.admit())).toBe('too_many_calls');
    Object.assign(gateway.engine, { isLoading: true });
    expect(codeOf(() => gateway.registry.admit())).toBeNull();
    Object.assign(gateway.engine, { isLoading: false });
    gateway.engine.release();
    await gateway.clock.run(10);
    expect(codeOf(() => gateway.registry.admit())).toBeNull();
  });

  it('does not count calls that are over among those that are late', async () => {
    const gateway = startCalls();
    gateway.dial().start({ callSid: 'CA0' });
    gateway.engine.held = true;
    for (const callSid of ['CA1', 'CA2', 'CA3']) gateway.dial().start({ callSid }).speak(600).socket.hangUp();
    await gateway.clock.run(3000);
    expect(gateway.registry.endingCount).toBe(3);
    expect(codeOf(() => gateway.registry.admit())).toBeNull();
  });

  it('refuses new calls while the engines are overloaded', () => {
    const gateway = startCalls();
    gateway.dial().start();
    gateway.engine.firmLoad = 1;
    expect(codeOf(() => gateway.registry.admit())).toBe('too_many_calls');
  });

  it('closes a socket that slipped through beyond the limit', async () => {
    const gateway = startCalls({ MAX_CALLS: '1' });
    gateway.dial().start();
    const { socket } = gateway.dial();
    await settle();
    expect(socket.closedWith?.code).toBe(1013);
    expect(gateway.registry.liveCount).toBe(1);
  });

  it('closes a socket that never starts', async () => {
    const gateway = startCalls();
    const { socket } = gateway.dial();
    await gateway.clock.run(10_000, 1000);
    expect(socket.closedWith?.code).toBe(4408);
    expect([gateway.registry.liveCount, gateway.clock.pending, gateway.events]).toEqual([0, 0, []]);
  });
});

describe('drain', () => {
  it('takes no new calls, and none that has not begun', async () => {
    const gateway = startCalls();
    const { socket } = gateway.dial();
    await gateway.registry.drain(1000);
    expect(socket.closedWith?.code).toBe(1012);
    expect(codeOf(() => gateway.registry.admit())).toBe('draining');
    const late = gateway.dial();
    await settle();
    expect(late.socket.closedWith?.code).toBe(1012);
    expect([gateway.registry.liveCount, gateway.clock.pending]).toEqual([0, 0]);
  });

  it('lets live calls end by themselves', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start().speak(600);
    let drained = false;
    const draining = gateway.registry.drain(30_000).then(() => {
      drained = true;
    });
    await gateway.clock.run(5000, 100);
    expect(drained).toBe(false);
    caller.stop();
    await draining;
    expect(reasons(gateway)).toEqual(['CA1 hangup']);
    await settle();
    expect(gateway.clock.pending).toBe(0);
  });

  it('ends the calls that are still live after the time-out, their last words captioned', async () => {
    const gateway = startCalls();
    const caller = gateway.dial().start().speak(600);
    gateway.dial().start({ callSid: 'CA2' });
    const draining = gateway.registry.drain(500);
    expect(gateway.registry.drain(0)).toBe(draining);
    await gateway.clock.run(600);
    await draining;
    expect(reasons(gateway).toSorted()).toEqual(['CA1 drained', 'CA2 drained']);
    expect(caller.socket.closedWith?.code).toBe(1012);
    expect(gateway.registry.summary('CA1')?.transcript).toHaveLength(1);
  });
});

describe('a thousand calls', () => {
  it('leave nothing behind, however they end', async () => {
    const gateway = startCalls({ CALLS_KEPT: '10' });
    for (let n = 0; n < 1000; n++) {
      const caller = gateway.dial().start({ callSid: `CA${n}`, tracks: ['inbound', 'outbound'] });
      if (n % 5 === 0) caller.speak(200);
      if (n % 4 === 0) caller.stop();
      else if (n % 4 === 1) caller.socket.hangUp(1000);
      else if (n % 4 === 2) caller.socket.hangUp(1006);
      else gateway.registry.hangup(`CA${n}`);
      await settle();
    }
    await settle();
    expect(gateway.registry.liveCount).toBe(0);
    expect(gateway.registry.list()).toHaveLength(10);
    expect(gateway.clock.pending).toBe(0);
  });

  it('leave nothing behind when they never begin', async () => {
    const gateway = startCalls();
    for (let n = 0; n < 1000; n++) gateway.dial().socket.hangUp(n % 2 === 0 ? 1000 : 1006);
    await settle();
    expect([gateway.registry.liveCount, gateway.registry.list(), gateway.clock.pending]).toEqual([0, [], 0]);
  });
});
