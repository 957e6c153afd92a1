/** Channels that are given to somebody else, against a pretended Asterisk. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallLeg, TransferOutcome, TransferRequest } from '../../../../src/calls/leg.ts';
import { AsteriskTrunk } from '../../../../src/carriers/asterisk/ari/trunk.ts';
import { type Gateway, startCalls } from '../../../calls/harness.ts';
import { PretendAsterisk } from '../../../fakes/asterisk.ts';
import { eventually } from '../../../helpers/eventually.ts';

const ID = '1795240043.2';

let asterisk: PretendAsterisk;
let gateway: Gateway;
let trunk: AsteriskTrunk;
let leg: CallLeg;

/** A live call of a channel in `Stasis(trunkline,talk)`. */
beforeEach(async () => {
  asterisk = await new PretendAsterisk().listen();
  gateway = startCalls({ ...asterisk.environment });
  const { registry } = gateway;
  const accept = registry.accept.bind(registry);
  registry.accept = (options) =>
    accept({
      ...options,
      connect: (handlers) => {
        leg = options.connect(handlers);
        return leg;
      },
    });
  trunk = new AsteriskTrunk({ ...gateway.context, registry });
  trunk.open();
  await asterisk.connected();
  asterisk.enter(ID, 'talk');
  await eventually(() => {
    expect(registry.get(ID)?.state).toBe('live');
    expect([...asterisk.bridges.values()].map((members) => members.length)).toEqual([2]);
  });
});
afterEach(async () => {
  await trunk.close();
  await asterisk.close();
});

function transfer(wanted: Partial<TransferRequest>): Promise<TransferOutcome | undefined> {
  const request = { to: '6002', from: null, timeoutMs: 30_000, handoffData: null, ...wanted };
  return leg.transfer?.(request) ?? Promise.resolve(undefined);
}

const variables = () => asterisk.channels.get(ID)?.variables ?? {};
const asked = (what: string) => asterisk.requests.find(({ line }) => line === `POST /channels/${ID}/${what}`)?.query;
const ended = () => gateway.registry.get(ID)?.state === 'ended';

describe('a place in the dialplan', () => {
  it.each([
    ['sales/6002', { context: 'sales', extension: '6002', priority: '1' }],
    ['sales/6002/3', { context: 'sales', extension: '6002', priority: '3' }],
    ['sales/6002/again', { context: 'sales', extension: '6002', label: 'again' }],
    ['+49 (30) 123-45', { extension: '+493012345', priority: '1' }],
  ])('%s is where the channel goes on', async (to, query) => {
    expect(await transfer({ to })).toBe('transferred');
    expect(asked('continue')).toEqual(query);
    await eventually(() => expect(ended()).toBe(true));
    expect(variables()).toEqual({ TRUNKLINE_STATUS: 'transferred' });
  });

  it('finds who called, and what it is given', async () => {
    expect(await transfer({ to: 'sales/6002', from: '+4930555', handoffData: '{"order":7}' })).toBe('transferred');
    expect(variables()).toMatchObject({ 'CALLERID(num)': '+4930555', TRUNKLINE_HANDOFF: '{"order":7}' });
  });

  it('does not get more than fits a request', async () => {
    expect(await transfer({ to: 'sales/6002', handoffData: 'ä'.repeat(2049) })).toBe('transferred');
    expect(variables()).toEqual({ TRUNKLINE_STATUS: 'transferred' });
  });

  it('that is not there is refused, and the caller stays', async () => {
    variables()['DIALPLAN_EXISTS(sales,6002,1)'] = '0';
    expect(await transfer({ to: 'sales/6002' })).toBe('refused');
    expect([asked('continue'), ended()]).toEqual([undefined, false]);
  });

  it('of the context that the channel came from is looked up, too', async () => {
    Object.assign(variables(), { CONTEXT: 'phones', 'DIALPLAN_EXISTS(phones,6002,1)': '0' });
    expect(await transfer({ to: '6002' })).toBe('refused');
    Object.assign(variables(), { 'DIALPLAN_EXISTS(phones,6002,1)': '1' });
    expect(await transfer({ to: '6002' })).toBe('transferred');
  });
});

describe('an endpoint', () => {
  it('has the call when the channel leaves, and the call ends', async () => {
    const outcome = transfer({ to: 'PJSIP/6002' });
    await eventually(() => expect(asked('redirect')).toEqual({ endpoint: 'PJSIP/6002' }));
    asterisk.hangUp(ID);
    expect(await outcome).toBe('transferred');
    await eventually(() => expect(ended()).toBe(true));
  });

  it('that does not take it in time leaves the caller here', async () => {
    const after = vi.spyOn(gateway.clock, 'after');
    const outcome = transfer({ to: 'PJSIP/6002', timeoutMs: 25_000 });
    // The time begins with Asterisk's answer; until then the same clock would end the request.
    await eventually(() => expect(after).toHaveBeenCalledWith(25_000, expect.any(Function)));
    expect(asked('redirect')).toBeDefined();
    await gateway.clock.run(25_000, 1000);
    expect(await outcome).toBe('unanswered');
    expect(ended()).toBe(false);
  });

  it('of another technology is not possible', async () => {
    asterisk.refuse = (line) => (line.endsWith('redirect') ? { status: 422, body: { message: 'no' } } : null);
    expect(await transfer({ to: 'IAX2/other' })).toBe('unsupported');
  });
});

describe('a transfer', () => {
  it.each(['', 'a b', 'sales/6002)', 'PJSIP/60/02/3/4', 'x,y', 'sip:6002@host'])('to %j is not tried', async (to) => {
    const before = asterisk.requests.length;
    expect(await transfer({ to })).toBe('unsupported');
    expect(asterisk.requests).toHaveLength(before);
  });

  it('that Asterisk cannot do is refused, and the caller stays', async () => {
    asterisk.refuse = (line) => (line.endsWith('continue') ? { status: 500, body: { message: 'no' } } : null);
    expect(await transfer({ to: 'sales/6002' })).toBe('refused');
    expect(ended()).toBe(false);
  });

  it('fails when the call ends here meanwhile', async () => {
    const outcome = transfer({ to: 'PJSIP/6002' });
    await eventually(() => expect(asked('redirect')).toBeDefined());
    leg.close(1000, 'over');
    expect(await outcome).toBe('refused');
  });
});
