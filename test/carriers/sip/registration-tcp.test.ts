/** Our registration over a TCP connection that the registrar closes. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { SipAgent } from '../../../src/carriers/sip/agent.ts';
import { type Gateway, metricValue, startCalls } from '../../calls/harness.ts';
import { eventually } from '../../helpers/eventually.ts';
import { freeSipPort } from '../../helpers/ports.ts';
import { answer, headerIn, request } from './line.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Registrar {
  readonly port: number;
  readonly connections: { readonly socket: Socket; readonly received: string[] }[];
}

/** A registrar that accepts whoever comes, on each connection. */
async function openRegistrar(): Promise<Registrar> {
  const connections: Registrar['connections'] = [];
  const server = createServer((socket) => {
    const received: string[] = [];
    connections.push({ socket, received });
    socket.on('data', (bytes) => {
      received.push(bytes.toString('latin1'));
      if (received.at(-1)?.startsWith('REGISTER')) socket.write(answer(received.at(-1) ?? '', '200 OK'));
    });
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    for (const { socket } of connections) socket.destroy();
    server.close();
  });
  const address = server.address();
  return { port: typeof address === 'object' ? (address?.port ?? 0) : 0, connections };
}

async function register(registrar: Registrar): Promise<{ agent: SipAgent; gateway: Gateway }> {
  const gateway = startCalls({
    SIP_PORT: '5060',
    SIP_REGISTRAR: `sip:127.0.0.1:${registrar.port};transport=tcp`,
    SIP_USER: 'bridge',
  });
  const { settings, log, metrics, clock } = gateway.context;
  const agent = new SipAgent({ settings, registry: gateway.registry, clock, log, metrics });
  await agent.listen('127.0.0.1', await freeSipPort());
  closing.push(async () => {
    const closed = agent.close();
    await gateway.clock.run(3000, 50);
    await closed;
  });
  await eventually(() => expect(agent.registered).toBe(true));
  return { agent, gateway };
}

describe('a registration over TCP', () => {
  it('is made again on a new connection as soon as the registrar closes the old one', async () => {
    const registrar = await openRegistrar();
    const before = await metricValue('trunkline_sip_registration_failures_total', { reason: 'lost' });
    const { agent, gateway } = await register(registrar);
    gateway.clock.advance(35_000);
    registrar.connections[0]?.socket.destroy();
    await eventually(() => expect(agent.registered).toBe(false));
    expect(await metricValue('trunkline_sip_registered', {})).toBe(0);
    gateway.clock.advance(0);
    await eventually(() => expect(agent.registered).toBe(true));
    expect(await metricValue('trunkline_sip_registered', {})).toBe(1);
    expect(registrar.connections).toHaveLength(2);
    expect(headerIn(registrar.connections[1]?.received[0] ?? '', 'CSeq')).toBe('2 REGISTER');
    expect(await metricValue('trunkline_sip_registration_failures_total', { reason: 'lost' })).toBe(before + 1);
  });

  it('that leads nowhere is made again on a new connection, the old one being closed', async () => {
    const registrar = await openRegistrar();
    const { agent, gateway } = await register(registrar);
    const [first] = registrar.connections;
    gateway.clock.advance(28_000);
    await eventually(() => expect(first?.received.at(-1)).toMatch(/^OPTIONS /));
    // What it asks itself is answered after what it answers has been read.
    const question = request('OPTIONS').replace('SIP/2.0/UDP', 'SIP/2.0/TCP');
    first?.socket.write(answer(first.received.at(-1) ?? '', '200 OK') + question);
    await eventually(() => expect(first?.received.at(-1)).toMatch(/^SIP\/2\.0 200/));
    gateway.clock.advance(28_000);
    await eventually(() => expect(first?.received.at(-1)).toMatch(/^OPTIONS /));
    gateway.clock.advance(10_000);
    expect(agent.registered).toBe(false);
    gateway.clock.advance(0);
    await eventually(() => expect(agent.registered).toBe(true));
    expect(registrar.connections).toHaveLength(2);
    await eventually(() => expect(first?.socket.destroyed).toBe(true));
  });

  it('does not come back when its connection breaks at the end', async () => {
    const registrar = await openRegistrar();
    const { agent, gateway } = await register(registrar);
    gateway.clock.advance(35_000);
    registrar.connections[0]?.socket.destroy();
    await eventually(() => expect(agent.registered).toBe(false));
    agent.drain();
    await eventually(() => expect(registrar.connections[1]?.received[0]).toContain('expires=0'));
    gateway.clock.advance(600_000);
    expect([agent.registered, registrar.connections[1]?.received.length]).toEqual([false, 1]);
  });
});
