/** The whole user agent on loopback: real sockets, a clock of the test, the phone in the box. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { CallView } from '../../../src/calls/call-view.ts';
import { SipAgent } from '../../../src/carriers/sip/agent.ts';
import { SipPhone } from '../../../src/carriers/sip/simulator/phone.ts';
import { writeRtp } from '../../../src/carriers/sip/wire/rtp/packet.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { type Gateway, metricValue, startCalls } from '../../calls/harness.ts';
import { eventually } from '../../helpers/eventually.ts';
import { freeSipPort, freeUdpPorts } from '../../helpers/ports.ts';
import { answer, headerIn, OFFER, request } from './line.ts';
import { packetOf } from './rtp/media.ts';

const QUIET = { audio: new Int16Array(0), endless: true };
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Bridge {
  readonly gateway: Gateway;
  readonly agent: SipAgent;
  readonly port: number;
}

async function openBridge(environment: Record<string, string> = {}): Promise<Bridge> {
  const gateway = startCalls({ SIP_PORT: '5060', ...environment });
  const { settings, log, metrics } = gateway.context;
  const agent = new SipAgent({ settings, registry: gateway.registry, clock: systemClock, log, metrics });
  const address = await agent.listen('127.0.0.1', await freeSipPort());
  closing.push(async () => {
    // The calls' clock stands still, so that nobody waits for their last words.
    void gateway.registry.drain(0);
    gateway.clock.advance(60_000);
    await agent.close();
  });
  return { gateway, agent, port: Number(address.split(':')[1]) };
}

async function openPhone(): Promise<SipPhone> {
  const phone = await SipPhone.open({ clock: systemClock });
  closing.push(() => phone.close());
  return phone;
}

async function openUdp(address = '127.0.0.1'): Promise<{ socket: Socket; port: number; received: string[] }> {
  const socket = createSocket('udp4');
  const received: string[] = [];
  socket.on('message', (bytes) => received.push(bytes.toString('latin1')));
  socket.bind(0, address);
  await once(socket, 'listening');
  closing.push(async () => socket.close());
  return { socket, port: socket.address().port, received };
}

const trunkOf = (phone: SipPhone) => `sip:127.0.0.1:${phone.port}`;
const stateOf = ({ gateway }: Bridge, id: string): Partial<CallView> | undefined => gateway.registry.get(id);
const call = { to: '+14155550100', from: null, app: null, parameters: {} };

describe('the user agent', () => {
  it('makes a call through a trunk, which becomes a call when it is answered', async () => {
    const phone = await openPhone();
    const bridge = await openBridge({ SIP_TRUNK: trunkOf(phone) });
    const { callId } = await bridge.agent.dial(call);
    expect(stateOf(bridge, callId)).toMatchObject({ state: 'dialing', to: '+14155550100' });
    const other = await phone.nextCall();
    await other.answer(QUIET);
    await eventually(() => expect(stateOf(bridge, callId)).toMatchObject({ state: 'live' }));
    bridge.gateway.registry.hangup(callId);
    expect((await other.ended).endedBy).toBe('bridge');
  });

  it('tells that the other side was busy', async () => {
    const phone = await openPhone();
    const bridge = await openBridge({ SIP_TRUNK: trunkOf(phone) });
    const { callId } = await bridge.agent.dial(call);
    (await phone.nextCall()).refuse('486 Busy Here');
    await eventually(() => expect(stateOf(bridge, callId)).toMatchObject({ state: 'ended', endReason: 'busy' }));
  });

  it('gives a call up that is hung up while it rings', async () => {
    const phone = await openPhone();
    const bridge = await openBridge({ SIP_TRUNK: trunkOf(phone) });
    const { callId } = await bridge.agent.dial(call);
    const other = await phone.nextCall();
    bridge.gateway.registry.hangup(callId);
    expect((await other.ended).endedBy).toBe('refused');
    expect(stateOf(bridge, callId)).toMatchObject({ state: 'ended', endReason: 'api' });
  });

  it('goes on to the next trunk where the first one is closed, and knows that from then on', async () => {
    const phone = await openPhone();
    const closed = await freeSipPort();
    const SIP_TRUNKS = `[
      {name: dead, server: "sip:127.0.0.1:${closed};transport=tcp"},
      {name: office, server: "sip:127.0.0.1:1", prefixes: []},
      {name: live, server: "${trunkOf(phone)}"},
    ]`;
    const bridge = await openBridge({ SIP_TRUNKS });
    const { callId } = await bridge.agent.dial(call);
    await (await phone.nextCall()).answer(QUIET);
    await eventually(() => expect(stateOf(bridge, callId)).toMatchObject({ state: 'live' }));
    const isUp = async (trunk: string) => await metricValue('trunkline_sip_trunk_up', { trunk });
    expect([await isUp('dead'), await isUp('live')]).toEqual([0, 1]);
  });

  it('calls a number over none of its trunks where it is none of theirs', async () => {
    const bridge = await openBridge({ SIP_TRUNKS: '[{name: a, server: "sip:127.0.0.1:1", prefixes: ["+49"]}]' });
    await expect(bridge.agent.dial(call)).rejects.toMatchObject({ code: 'invalid_request', param: 'to' });
    await expect(bridge.agent.dial({ ...call, trunk: 'b' })).rejects.toMatchObject({ param: 'trunk' });
  });

  it('says that it has nowhere to send calls to', async () => {
    const bridge = await openBridge();
    await expect(bridge.agent.dial(call)).rejects.toMatchObject({ code: 'dialing_unavailable' });
  });

  it('takes a call over TCP, and answers on the connection that it came on', async () => {
    const bridge = await openBridge();
    const socket = connect(bridge.port, '127.0.0.1');
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
    });
    socket.write(`\r\n\r\n${request('INVITE', { body: OFFER }).replace('SIP/2.0/UDP', 'SIP/2.0/TCP')}`);
    await eventually(() => expect(text).toContain('SIP/2.0 200 OK'));
    expect(text.startsWith('\r\nSIP/2.0 100')).toBe(true);
    expect(headerIn(text.slice(text.indexOf('SIP/2.0 200')), 'Contact')).toBe(
      `<sip:trunkline@127.0.0.1:${bridge.port};transport=tcp>`,
    );
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await once(socket, 'close');
    expect(await metricValue('trunkline_sip_dropped_total', { reason: 'malformed' })).toBeGreaterThan(0);
  });

  it('answers thousands of signs of life over TCP with a few', async () => {
    const bridge = await openBridge();
    const socket = connect(bridge.port, '127.0.0.1');
    let receivedBytes = 0;
    socket.on('data', (bytes) => {
      receivedBytes += bytes.length;
    });
    socket.write('\r\n\r\n'.repeat(100_000));
    socket.write('no SIP\r\n\r\n');
    await once(socket, 'close');
    expect(receivedBytes).toBeGreaterThan(0);
    expect(receivedBytes).toBeLessThan(1000);
  });

  it('gives no answer to whom it does not know, on either transport', async () => {
    const bridge = await openBridge({ SIP_ALLOW: '192.0.2.1' });
    const before = await metricValue('trunkline_sip_dropped_total', { reason: 'address' });
    const { socket, received } = await openUdp();
    socket.send(request('OPTIONS'), bridge.port, '127.0.0.1');
    await once(connect(bridge.port, '127.0.0.1').resume(), 'close');
    await eventually(async () =>
      expect(await metricValue('trunkline_sip_dropped_total', { reason: 'address' })).toBe(before + 2),
    );
    await wait(20);
    expect(received).toEqual([]);
  });

  it('lets its registrar in without a list, and registers with it until the end', async () => {
    const registrar = await openUdp();
    const bridge = await openBridge({
      SIP_ALLOW: '192.0.2.1',
      SIP_REGISTRAR: `sip:127.0.0.1:${registrar.port}`,
      SIP_USER: 'bridge',
    });
    const reply = (status: string): void => {
      registrar.socket.send(answer(registrar.received.at(-1) ?? '', status), bridge.port, '127.0.0.1');
    };
    await eventually(() => expect(registrar.received).toHaveLength(1));
    expect(bridge.agent.registered).toBe(false);
    reply('200 OK');
    await eventually(() => expect(bridge.agent.registered).toBe(true));
    expect(await metricValue('trunkline_sip_registered', {})).toBe(1);
    bridge.agent.drain();
    await eventually(() => expect(registrar.received).toHaveLength(2));
    expect(headerIn(registrar.received[1] ?? '', 'Contact')).toContain('expires=0');
    reply('200 OK');
    expect(bridge.agent.registered).toBe(false);
  });

  it('names the address by which it is reached from outside', async () => {
    const bridge = await openBridge({ SIP_PUBLIC_ADDRESS: '203.0.113.7' });
    const { socket, received } = await openUdp();
    socket.send(request('INVITE', { body: OFFER }), bridge.port, '127.0.0.1');
    await eventually(() => expect(received).toHaveLength(2));
    expect(received[1]).toContain(`Contact: <sip:trunkline@203.0.113.7:${bridge.port}>`);
    expect(received[1]).toContain('c=IN IP4 203.0.113.7');
  });

  it('takes sound from the media relays of RTP_ALLOW', async () => {
    const { first, last } = await freeUdpPorts(2);
    const bridge = await openBridge({ RTP_ALLOW: '127.0.0.2', RTP_PORTS: `${first}-${last}` });
    const [phone, relay] = [await openUdp(), await openUdp('127.0.0.2')];
    phone.socket.send(request('INVITE', { body: OFFER, callId: 'relayed' }), bridge.port, '127.0.0.1');
    await eventually(() => expect(phone.received).toHaveLength(2));
    phone.socket.send(
      request('ACK', { to: headerIn(phone.received[1] ?? '', 'To'), callId: 'relayed' }),
      bridge.port,
      '127.0.0.1',
    );
    await eventually(() => expect(stateOf(bridge, 'relayed')).toMatchObject({ state: 'live' }));
    for (let i = 0; i < 50; i++) relay.socket.send(writeRtp(packetOf(i, { payloadType: 8 })), first, '127.0.0.1');
    await eventually(() => expect(stateOf(bridge, 'relayed')?.durationMs).toBeGreaterThan(0));
  });

  it('says what is wrong when its port is taken, and gives it back at the end', async () => {
    const first = await openBridge();
    const { settings, log, metrics, clock } = first.gateway.context;
    const second = new SipAgent({ settings, registry: first.gateway.registry, clock, log, metrics });
    await expect(second.listen('127.0.0.1', first.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await first.agent.close();
    expect(await second.listen('127.0.0.1', first.port)).toBe(`127.0.0.1:${first.port}`);
    await second.close();
  });
});
