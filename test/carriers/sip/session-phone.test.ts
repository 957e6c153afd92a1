/**
 * Session timers with the simulated phone, over real sockets: the bridge's clock is given, the phone's is the
 * machine's.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { SipAgent } from '../../../src/carriers/sip/agent.ts';
import { SipPhone } from '../../../src/carriers/sip/simulator/phone.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { type Gateway, metricValue, startCalls } from '../../calls/harness.ts';
import { eventually } from '../../helpers/eventually.ts';
import { freeSipPort } from '../../helpers/ports.ts';

const QUIET = { audio: new Int16Array(0), endless: true };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const refreshes = (result: string): Promise<number> =>
  metricValue('trunkline_sip_session_refreshes_total', { by: 'us', result });

async function open(): Promise<{ gateway: Gateway; agent: SipAgent; phone: SipPhone; uri: string }> {
  const phone = await SipPhone.open({ clock: systemClock });
  closing.push(() => phone.close());
  const trunk = `sip:127.0.0.1:${phone.port}`;
  const gateway = startCalls({
    SIP_PORT: '5060',
    SIP_TRUNK: trunk,
    SIP_SESSION_EXPIRES_SECONDS: '600',
    MEDIA_TIMEOUT_MS: '3600000',
    APP_URL: '',
  });
  const { settings, log, metrics, clock } = gateway.context;
  const agent = new SipAgent({ settings, registry: gateway.registry, clock, log, metrics });
  const address = await agent.listen('127.0.0.1', await freeSipPort());
  closing.push(async () => {
    void gateway.registry.drain(0);
    await gateway.clock.run(5000, 50);
    const closed = agent.close();
    await gateway.clock.run(5000, 50);
    await closed;
  });
  return { gateway, agent, phone, uri: `sip:bridge@${address}` };
}

/** A refresh is due: it is sent, and answered with this result. */
async function refresh(gateway: Gateway, result: string): Promise<void> {
  const before = await refreshes(result);
  gateway.clock.advance(300_000);
  await eventually(async () => expect(await refreshes(result)).toBe(before + 1));
}

describe('a call that we make', () => {
  it('is refreshed for as long as the phone knows it, and ends when it does not', async () => {
    const { gateway, agent, phone } = await open();
    const { callId } = await agent.dial({ to: '1', from: null, app: null, parameters: {} });
    const call = await phone.nextCall();
    await call.answer(QUIET);
    await eventually(() => expect(gateway.registry.get(callId)).toMatchObject({ state: 'live' }));
    await refresh(gateway, 'accepted');
    await refresh(gateway, 'accepted');
    call.vanish();
    await refresh(gateway, 'gone');
    await eventually(() => expect(gateway.registry.get(callId)).toMatchObject({ state: 'ended', endReason: 'lost' }));
  });
});

describe('a call of the phone', () => {
  it('that leaves the refreshing to us is refreshed', async () => {
    const { gateway, phone, uri } = await open();
    const headers = { Supported: 'timer', 'Session-Expires': '600;refresher=uas' };
    const call = await phone.dial({ ...QUIET, uri, headers });
    await eventually(() => expect(gateway.registry.get(call.callId)).toMatchObject({ state: 'live' }));
    await refresh(gateway, 'accepted');
    expect(gateway.registry.get(call.callId)).toMatchObject({ state: 'live' });
  });
});
