import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DemoCalls } from '../../../src/carriers/twilio/demo-calls.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { type Gateway, startCalls } from '../../calls/harness.ts';

/** Twilio's streams are locked, as they are in earnest. */
const LOCKED = { TWILIO_AUTH_TOKEN: 'secret', API_KEYS: 'a-key-that-nobody-guesses' };

let gateway: Gateway;
let demoCalls: DemoCalls;

function start(environment: Record<string, string> = LOCKED): void {
  gateway = startCalls(environment);
  const { registry, webSockets, clock } = gateway;
  demoCalls = new DemoCalls({ registry, webSockets, clock, log: createLog('silent') });
}

beforeEach(() => start());
afterEach(async () => {
  demoCalls.close();
  await expect.poll(() => gateway.registry.liveCount).toBe(0);
});

const untilLive = (callId: string) => expect.poll(() => gateway.registry.get(callId)?.state).toBe('live');

describe('a demo call', () => {
  it('comes in although the endpoints are locked, and is a call like any other', async () => {
    const { callId } = await demoCalls.place();
    await untilLive(callId);
    expect(gateway.registry.get(callId)).toMatchObject({
      carrier: 'demo',
      from: '+15550100',
      to: '+15550199',
      tracks: ['inbound', 'outbound'],
    });
    expect(gateway.events[0]).toMatchObject({ type: 'call.started', callId, carrier: 'demo' });
  });

  it('speaks in real time, both sides', async () => {
    const { callId } = await demoCalls.place();
    await untilLive(callId);
    await expect
      .poll(() => {
        gateway.clock.advance(20);
        return gateway.registry.get(callId)?.durationMs ?? 0;
      })
      .toBeGreaterThan(1000);
  });

  it('is refused while three go on', async () => {
    const calls = await Promise.all([demoCalls.place(), demoCalls.place(), demoCalls.place()]);
    await expect(demoCalls.place()).rejects.toMatchObject({ code: 'too_many_requests' });
    await untilLive(calls[0].callId);
  });

  it('is refused where any call would be', async () => {
    start({ ...LOCKED, MAX_CALLS: '1' });
    const { callId } = await demoCalls.place();
    await untilLive(callId);
    await expect(demoCalls.place()).rejects.toMatchObject({ code: 'too_many_calls' });
  });

  it('is hung up when the server ends, and no other begins', async () => {
    const { callId } = await demoCalls.place();
    await untilLive(callId);
    demoCalls.close();
    await expect.poll(() => gateway.registry.get(callId)?.state).toBe('ended');
    expect(gateway.registry.get(callId)?.endReason).toBe('hangup');
    await expect(demoCalls.place()).rejects.toMatchObject({ code: 'draining' });
  });
});
