/** Calls by ARI, against a pretended Asterisk on loopback and a gateway on a clock of the test. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AsteriskTrunk } from '../../../../src/carriers/asterisk/ari/trunk.ts';
import type { AriMode } from '../../../../src/carriers/asterisk/wire/ari.ts';
import { type Gateway, startCalls } from '../../../calls/harness.ts';
import { PretendAsterisk } from '../../../fakes/asterisk.ts';
import { eventually } from '../../../helpers/eventually.ts';

const ID = '1795240043.2';
const LOUD = Buffer.from(Int16Array.from({ length: 320 }, (_, i) => ((i & 4) === 0 ? 8000 : -8000)).buffer);

let asterisk: PretendAsterisk;
let gateway: Gateway;
let trunk: AsteriskTrunk;

beforeEach(async () => {
  asterisk = await new PretendAsterisk().listen();
});
afterEach(async () => {
  await trunk.close();
  await asterisk.close();
});

async function open(environment: Record<string, string> = {}): Promise<void> {
  start(environment);
  await asterisk.connected();
  await eventually(() => expect(asterisk.asked(/^GET \/bridges/)).toHaveLength(1));
}

function start(environment: Record<string, string> = {}): void {
  gateway = startCalls({ ...asterisk.environment, ...environment });
  trunk = new AsteriskTrunk({ ...gateway.context, registry: gateway.registry });
  trunk.open();
}

const view = (id = ID) => gateway.registry.get(id);
const names = (kind: string) => [...asterisk.channels.keys()].filter((id) => id.endsWith(`-${kind}`)).sort();
const statusOf = (id = ID) => asterisk.channels.get(id)?.variables['TRUNKLINE_STATUS'];

/** A channel comes in and becomes a live call. */
async function live(mode: AriMode, ...args: string[]): Promise<void> {
  asterisk.enter(ID, mode, ...args);
  await eventually(() => {
    expect(view()?.state).toBe('live');
    expect([...asterisk.bridges.values()].every((members) => members.length === 2)).toBe(true);
  });
}

/** All that we made is gone. */
async function clean(): Promise<void> {
  await eventually(() => {
    expect([...asterisk.channels.keys()].filter((id) => id.startsWith('trunkline-'))).toEqual([]);
    expect([...asterisk.bridges.keys()]).toEqual([]);
  });
}

describe('a channel in Stasis(trunkline,talk)', () => {
  it('is answered, joined with a channel to us, and a call of its own id with its caller and the parameters of the dialplan', async () => {
    await open();
    await live('talk', 'bargeIn=off', 'to=Sales');
    expect(view()).toMatchObject({ carrier: 'asterisk', from: '100', to: 'Sales', tracks: ['inbound'] });
    expect(asterisk.asked(/answer$/)).toEqual([`POST /channels/${ID}/answer`]);
    const [members] = asterisk.bridges.values();
    expect(members).toEqual([ID, names('media')[0]]);
    const media = asterisk.requests.find(({ line }) => line.endsWith('externalMedia'));
    expect(media?.query).toMatchObject({
      transport: 'websocket',
      connection_type: 'server',
      format: 'slin16',
      transport_data: 'f(json)',
    });
    expect(media?.query['direction']).toBeUndefined();
  });

  it('is heard, and hears what is said', async () => {
    await open();
    await live('talk');
    const heard: Buffer[] = [];
    const socket = asterisk.media.get(names('media')[0] ?? '');
    socket?.on('message', (data: Buffer, isBinary) => void (isBinary && heard.push(data)));
    socket?.send(LOUD);
    await eventually(() => expect(view()?.durationMs).toBe(20));
    gateway.registry.voice(ID)?.say('Your balance is forty two dollars.');
    await eventually(() => {
      gateway.clock.advance(20);
      expect(heard.some((bytes) => bytes.some((byte) => byte !== 0))).toBe(true);
    });
  });

  it('is not sent anywhere when the caller hangs up, and nothing of ours stays', async () => {
    await open();
    await live('talk');
    asterisk.hangUp(ID);
    await eventually(() => expect(view()?.state).toBe('ended'));
    await clean();
    expect(asterisk.asked(/continue$/)).toEqual([]);
  });

  it('goes on in the dialplan when we hang up', async () => {
    await open();
    await live('talk');
    gateway.registry.hangup(ID);
    await eventually(() => expect(asterisk.asked(/continue$/)).toHaveLength(1));
    expect([statusOf(), asterisk.channels.get(ID)?.inApp]).toEqual(['ended', false]);
    await clean();
  });

  it.each([
    ['the channel to us is refused', /externalMedia/, 'asterisk_unavailable'],
    ['there is no bridge to be had', /^POST \/bridges\/[^/]+$/, 'asterisk_unavailable'],
    ['the two cannot be joined', /addChannel/, 'asterisk_unavailable'],
  ])('goes on in the dialplan, which is told why, when %s', async (_what, pattern, status) => {
    await open();
    asterisk.refuse = (line) => (pattern.test(line) ? { status: 500, body: { message: 'Allocation failed' } } : null);
    asterisk.enter(ID, 'talk');
    await eventually(() => expect(asterisk.asked(/continue$/)).toHaveLength(1));
    expect(statusOf()).toBe(status);
    await clean();
    await eventually(() => expect(gateway.logLines.join()).toContain('Allocation failed'));
  });

  it('goes on in the dialplan when the sound cannot be had', async () => {
    await open({ ASTERISK_MEDIA_URL: 'ws://127.0.0.1:9/media' });
    asterisk.enter(ID, 'talk');
    await eventually(() => expect(statusOf()).toBe('asterisk_unavailable'));
    await clean();
    await eventually(() => expect(gateway.registry.liveCount).toBe(0));
  });

  it('waits no longer than ten seconds for a channel to us that never comes in', async () => {
    await open();
    asterisk.joins = false;
    asterisk.enter(ID, 'talk');
    await eventually(() => expect(asterisk.media.size).toBe(1));
    gateway.clock.advance(10_000);
    await eventually(() => expect(statusOf()).toBe('asterisk_unavailable'));
    await clean();
  });

  it('goes on at once when there is no room for it, and nothing was made', async () => {
    await open({ MAX_CALLS: '1' });
    await live('talk');
    const before = asterisk.bridges.size;
    asterisk.enter('2.2', 'talk');
    await eventually(() =>
      expect([statusOf('2.2'), asterisk.channels.get('2.2')?.inApp]).toEqual(['too_many_calls', false]),
    );
    expect(asterisk.bridges.size).toBe(before);
  });

  it('goes on at once when it asks for something unknown', async () => {
    await open();
    asterisk.enter(ID, 'sing');
    await eventually(() => expect([statusOf(), asterisk.channels.get(ID)?.inApp]).toEqual(['invalid_request', false]));
  });
});

describe('a channel in Stasis(trunkline,captions)', () => {
  it('is heard, and nothing of ours can be heard there', async () => {
    await open();
    await live('captions');
    const media = asterisk.requests.find(({ line }) => line.endsWith('externalMedia'));
    expect(media?.query['direction']).toBe('in');
    expect(() => gateway.registry.voice(ID)?.say('Hello.')).toThrow();
  });
});

describe('a channel in Stasis(trunkline,assist)', () => {
  it('goes on as soon as both its directions are listened to, as two tracks of one call', async () => {
    await open();
    await live('assist');
    await eventually(() => expect([statusOf(), asterisk.channels.get(ID)?.inApp]).toEqual(['ok', false]));
    expect(view()).toMatchObject({ from: '100', to: '600', tracks: ['inbound', 'outbound'] });
    expect(asterisk.requests.filter(({ line }) => line.includes('/snoop/')).map(({ query }) => query['spy'])).toEqual([
      'in',
      'out',
    ]);
    for (const [bridge, members] of asterisk.bridges) {
      expect(members).toEqual([bridge.replace(/bridge$/, 'snoop'), bridge.replace(/bridge$/, 'media')]);
    }
    expect(asterisk.asked(/answer$/)).toEqual([]);
  });

  it('has what it says and what it hears told apart', async () => {
    await open();
    await live('assist');
    const [, outbound = ''] = names('media');
    for (let ms = 0; ms < 800; ms += 20) {
      gateway.clock.advance(20);
      asterisk.media.get(outbound)?.send(LOUD);
      await eventually(() => expect(view()?.durationMs).toBe(ms + 20));
    }
    await eventually(() =>
      expect(gateway.events.map((event) => 'track' in event && event.track)).toContain('outbound'),
    );
    expect(gateway.events.map((event) => 'track' in event && event.track)).not.toContain('inbound');
  });

  it.each([
    ['the caller hangs up', () => asterisk.hangUp(ID)],
    ['a channel that listens ends', () => asterisk.hangUp(names('snoop')[1] ?? '')],
    ['a channel to us ends', () => asterisk.hangUp(names('media')[0] ?? '')],
    ['a socket breaks', () => asterisk.media.get(names('media')[1] ?? '')?.terminate()],
    ['somebody ends the captions', () => gateway.registry.hangup(ID)],
    ['the gateway ends', () => trunk.close()],
  ])('leaves nothing behind when %s', async (_what, happen) => {
    await open();
    await live('assist');
    await eventually(() => expect(asterisk.channels.get(ID)?.inApp).toBe(false));
    await happen();
    await eventually(() => expect(view()?.state).toBe('ended'));
    await clean();
    expect(asterisk.asked(/continue$/)).toHaveLength(1);
  });

  it('that is hung up while all is being made leaves nothing behind either', async () => {
    await open();
    asterisk.enter(ID, 'assist');
    await eventually(() => expect(asterisk.asked(/snoop/).length).toBeGreaterThan(0));
    asterisk.hangUp(ID);
    await eventually(() => expect(gateway.registry.liveCount).toBe(0));
    await clean();
  });
});

describe('what a channel does that is listened to', () => {
  const states = () => gateway.events.flatMap((event) => (event.type === 'call.state' ? [event.state] : []));
  const bridged = (value: string) =>
    asterisk.tell({ type: 'ChannelVarset', variable: 'BRIDGEPEER', value, channel: { id: ID } });

  it('is to wait in a queue until it is connected, and again when that is over', async () => {
    await open();
    await live('assist');
    await eventually(() => expect(states()).toEqual(['queued']));
    bridged('PJSIP/tom-00000002');
    await eventually(() => expect(view()?.phase).toBe('live'));
    asterisk.tell({ type: 'ChannelHold', channel: { id: ID } });
    asterisk.tell({ type: 'ChannelUnhold', channel: { id: ID } });
    bridged('');
    await eventually(() => expect(states()).toEqual(['queued', 'live', 'held', 'live', 'queued']));
  });

  it('tells whose call it is, and when Asterisk gives it on', async () => {
    await open();
    await live('assist');
    const told = (event: object, dialplan: object, connected = { number: '', name: '' }) =>
      asterisk.tell({ ...event, channel: { id: ID, name: 'PJSIP/alice-00000001', connected, dialplan } });
    const variable = (name: string, value: string, exten: string, connected?: { number: string; name: string }) =>
      told(
        { type: 'ChannelVarset', variable: name, value },
        { exten, app_name: 'Queue', app_data: 'support,t' },
        connected,
      );
    told({ type: 'ChannelDialplan' }, { exten: '610', app_name: 'Queue', app_data: 'support,t' });
    variable('BRIDGEPEER', 'PJSIP/6002-00000002', '610', { number: '6002', name: 'Tom' });
    await eventually(() =>
      expect(view()).toMatchObject({ agent: '6002', queue: 'support', names: { outbound: 'Tom' } }),
    );
    variable('BLINDTRANSFER', 'PJSIP/6002-00000002', '610');
    variable('BRIDGEPEER', '', '610');
    variable('BRIDGEPEER', 'PJSIP/6003-00000003', '6003', { number: '6003', name: 'Ann' });
    await eventually(() => expect(view()).toMatchObject({ agent: '6003', names: { outbound: 'Ann' } }));
    expect(gateway.events.filter(({ type }) => type === 'call.transferred')).toMatchObject([
      { callId: ID, by: 'asterisk', from: '6002', to: '6003', kind: 'blind' },
    ]);
    expect(gateway.events.findLast(({ type }) => type === 'call.assigned')).toMatchObject({
      agent: '6003',
      queue: 'support',
      names: { outbound: 'Ann' },
    });
  });

  it('is listened to anew where it is connected to somebody else, and nothing of ours is left at its end', async () => {
    await open();
    await live('assist');
    const snoops = () => [...asterisk.channels.keys()].filter((id) => /-snoop/.test(id));
    const first = snoops();
    bridged('PJSIP/6002-00000002');
    bridged('PJSIP/6002-00000002');
    await eventually(() => expect(view()?.agent).toBe('6002'));
    expect(snoops()).toEqual(first);
    bridged('');
    bridged('PJSIP/6003-00000003');
    const bridge = () => [...asterisk.bridges].flatMap(([name, members]) => (/-outbound-/.test(name) ? [members] : []));
    await eventually(() => expect(bridge()).toEqual([expect.arrayContaining([expect.stringMatching(/-snoop-1$/)])]));
    expect(snoops()).toHaveLength(2);
    expect(snoops().some((id) => first.includes(id))).toBe(false);
    expect(view()?.state).toBe('live');
    asterisk.hangUp(ID);
    await eventually(() => expect([asterisk.channels.size, asterisk.bridges.size]).toEqual([0, 0]));
  });

  it('tells who is connected to a channel that runs already', async () => {
    await open();
    asterisk.add(ID).variables['BRIDGEPEER'] = 'PJSIP/6002-00000002';
    await trunk.assist(ID);
    await eventually(() => expect(view()).toMatchObject({ agent: '6002', names: { outbound: '6002' } }));
  });

  it('tells what Asterisk says before there is a call that could', async () => {
    await open();
    asterisk.add(ID);
    asterisk.refuse = (line) => {
      if (line.includes('subscription')) bridged('PJSIP/6002-00000002');
      return null;
    };
    await trunk.assist(ID);
    await eventually(() => expect(view()).toMatchObject({ agent: '6002', names: { outbound: '6002' } }));
  });

  it('is to talk where it is connected already', async () => {
    await open();
    asterisk.add(ID).variables['BRIDGEPEER'] = 'PJSIP/tom-00000002';
    await trunk.assist(ID, { callerName: 'Maria', agentName: 'Tom', agent: 'tom' });
    expect([states(), view()?.names, view()?.agent]).toEqual([[], { inbound: 'Maria', outbound: 'Tom' }, 'tom']);
  });

  it('is no matter where it talks with us', async () => {
    await open();
    await live('talk');
    bridged('Local/x');
    bridged('');
    asterisk.tell({ type: 'ChannelHold', channel: { id: ID } });
    await eventually(() => expect(states()).toEqual(['held']));
  });
});

describe('a running call', () => {
  it.each([
    ['id', ID],
    ['name', `PJSIP/alice-${ID}`],
  ])('is listened to by its %s, and left where it is', async (_what, name) => {
    await open();
    asterisk.add(ID);
    expect(await trunk.assist(name)).toEqual({ callId: ID });
    expect(view()?.tracks).toEqual(['inbound', 'outbound']);
    gateway.registry.hangup(ID);
    await clean();
    expect([asterisk.channels.has(ID), asterisk.asked(/continue$/)]).toEqual([true, []]);
  });

  it('is listened to once', async () => {
    await open();
    asterisk.add(ID);
    await trunk.assist(ID);
    await expect(trunk.assist(ID)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('must be there', async () => {
    await open();
    await expect(trunk.assist('nobody')).rejects.toMatchObject({ code: 'call_not_found' });
  });

  it('may end before it is heard', async () => {
    await open();
    asterisk.add(ID);
    asterisk.joins = false;
    const asked = trunk.assist(ID);
    const refused = expect(asked).rejects.toMatchObject({ code: 'call_not_found' });
    await eventually(() => expect(asterisk.media.size).toBe(2));
    asterisk.hangUp(ID);
    await refused;
    await clean();
  });
});

describe('the connection', () => {
  it('needs a password, or nothing is started', () => {
    expect(() => startCalls({ ARI_URL: 'http://127.0.0.1:8088/ari' })).toThrow('ARI_URL needs ARI_PASSWORD');
  });

  it('is dialled again when it is lost, and what happened meanwhile is looked up', async () => {
    await open();
    await live('talk');
    asterisk.loseEvents();
    asterisk.channels.delete(ID);
    await eventually(() => {
      gateway.clock.advance(250);
      expect(asterisk.connections).toBe(2);
    });
    await eventually(() => expect(view()?.state).toBe('ended'));
    await clean();
    expect(gateway.logLines.filter((line) => line.includes('connecting again'))).toHaveLength(1);
  });

  it('keeps calls that are still there', async () => {
    await open();
    await live('talk');
    asterisk.loseEvents();
    await eventually(() => {
      gateway.clock.advance(250);
      expect(asterisk.asked(/^GET \/bridges/)).toHaveLength(2);
    });
    expect([view()?.state, asterisk.bridges.size]).toEqual(['live', 1]);
  });

  it('removes at its beginning what an earlier life left behind, and nothing else', async () => {
    for (const id of [
      'trunkline-trunkline-0123456789abcdef-inbound-media',
      'trunkline-trunkline-0123456789abcdef-inbound-snoop',
      'trunkline-other-x',
      '7.7',
    ]) {
      asterisk.add(id);
    }
    asterisk.add('8.8', { inApp: true });
    asterisk.bridges.set('trunkline-trunkline-0123456789abcdef-inbound-bridge', []);
    asterisk.bridges.set('of-somebody-else', []);
    await open();
    await eventually(() => expect([statusOf('8.8'), asterisk.channels.get('8.8')?.inApp]).toEqual(['lost', false]));
    await eventually(() => expect([...asterisk.channels.keys()]).toEqual(['trunkline-other-x', '7.7', '8.8']));
    expect([...asterisk.bridges.keys()]).toEqual(['of-somebody-else']);
  });

  it('is left alone when another program takes over the application', async () => {
    await open();
    asterisk.tell({ type: 'ApplicationReplaced' });
    await eventually(() => expect(gateway.logLines.join()).toContain('taken over'));
    gateway.clock.advance(60_000);
    expect(asterisk.connections).toBe(1);
  });

  it('bears events that cannot be read', async () => {
    await open();
    asterisk.tell({ type: 'StasisStart', channel: 5 });
    asterisk.tell({ type: 'ChannelVarset' });
    await live('talk');
    expect(gateway.logLines.filter((line) => line.includes('cannot be read'))).toHaveLength(1);
  });

  it('that Asterisk refuses is tried again, more and more seldom, and told once', async () => {
    start({ ARI_PASSWORD: 'wrong' });
    const complaints = () => gateway.logLines.filter((line) => line.includes('connecting again'));
    await eventually(() => {
      gateway.clock.advance(1000);
      expect(complaints()).toHaveLength(1);
    });
    expect(asterisk.connections).toBe(0);
  });

  it('that fails in turns for two reasons is told once for each, and what it came to at its end', async () => {
    let attempts = 0;
    asterisk.refuse = (line) => (line.startsWith('UPGRADE') ? { status: attempts++ % 2 === 0 ? 503 : 404 } : null);
    start();
    const complaints = () => gateway.logLines.filter((line) => line.includes('connecting again'));
    await eventually(() => {
      gateway.clock.advance(1000);
      expect(asterisk.refusals).toBeGreaterThan(9);
    });
    expect(complaints()).toHaveLength(2);
    asterisk.refuse = () => null;
    await eventually(() => {
      gateway.clock.advance(10_000);
      expect(asterisk.connections).toBe(1);
    });
    await eventually(() => expect(gateway.logLines.join()).toMatch(/"attempts":\d\d/));
  });
});
