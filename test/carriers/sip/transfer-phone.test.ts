/** Transfers with simulated phones, over real sockets: the caller's phone calls another one in our place. */
import { afterEach, describe, expect, it } from 'vitest';
import type { CallLeg, TransferOutcome } from '../../../src/calls/leg.ts';
import { SipAgent } from '../../../src/carriers/sip/agent.ts';
import { SipPhone } from '../../../src/carriers/sip/simulator/phone.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { startCalls } from '../../calls/harness.ts';
import { eventually } from '../../helpers/eventually.ts';
import { freeSipPort } from '../../helpers/ports.ts';

const QUIET = { audio: new Int16Array(0), endless: true };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function openPhone(): Promise<SipPhone> {
  const phone = await SipPhone.open({ clock: systemClock });
  closing.push(() => phone.close());
  return phone;
}

/** A live call of a phone. */
async function begin(): Promise<{ leg: CallLeg; target: SipPhone; ended: Promise<{ endedBy: string }> }> {
  const [caller, target] = [await openPhone(), await openPhone()];
  const gateway = startCalls({ SIP_PORT: '5060', APP_URL: '' });
  const { registry } = gateway;
  const legs: CallLeg[] = [];
  const accept = registry.accept.bind(registry);
  registry.accept = (options) =>
    accept({
      ...options,
      connect: (handlers) => {
        const leg = options.connect(handlers);
        legs.push(leg);
        return leg;
      },
    });
  const { settings, log, metrics, clock } = gateway.context;
  const agent = new SipAgent({ settings, registry, clock, log, metrics });
  const address = await agent.listen('127.0.0.1', await freeSipPort());
  closing.push(async () => {
    void registry.drain(0);
    await gateway.clock.run(5000, 50);
    const closed = agent.close();
    await gateway.clock.run(5000, 50);
    await closed;
  });
  const call = await caller.dial({ ...QUIET, uri: `sip:bridge@${address}` });
  await eventually(() => expect(registry.get(call.callId)).toMatchObject({ state: 'live' }));
  const [leg] = legs;
  if (leg === undefined) throw new Error('there is no call');
  return { leg, target, ended: call.ended };
}

function transfer(leg: CallLeg, to: string): Promise<TransferOutcome | undefined> {
  return leg.transfer?.({ to, from: null, timeoutMs: 30_000, handoffData: null }) ?? Promise.resolve(undefined);
}

describe('a phone that is asked to call another one', () => {
  it('does so; then we leave', async () => {
    const { leg, target, ended } = await begin();
    const outcome = transfer(leg, target.uri);
    const call = await target.nextCall();
    await call.answer(QUIET);
    expect(await outcome).toBe('transferred');
    leg.close(1000, 'transferred');
    expect(await ended).toMatchObject({ endedBy: 'bridge' });
    expect(call.media).not.toBeNull();
  });

  it('says that the other one is busy, and stays with us', async () => {
    const { leg, target } = await begin();
    const outcome = transfer(leg, target.uri);
    (await target.nextCall()).refuse('486 Busy Here');
    expect(await outcome).toBe('busy');
  });
});
