/** Several registrations and an outbound proxy, as an operator has them: a gateway of its own process, and Kamailio. */
import { afterEach, describe, expect, it } from 'vitest';
import { headersOf } from '../../src/carriers/sip/simulator/message.ts';
import { SipPhone } from '../../src/carriers/sip/simulator/phone.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { freePort, freeSipPort, freeUdpPorts } from '../helpers/ports.ts';
import { tlsPath } from '../helpers/tls-files.ts';
import { hasKamailio, type Kamailio, startKamailio } from './kamailio.ts';

const QUIET = { audio: new Int16Array(0), endless: true };
const NAMES = ['default', 'berlin', 'carrier'] as const;
type Name = (typeof NAMES)[number];
const PRETENDED = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };

let gateway: GatewayProcess | undefined;
let phone: SipPhone | undefined;
let feed: FeedReader | undefined;
const servers: Kamailio[] = [];
afterEach(async () => {
  feed?.close();
  await phone?.close();
  await gateway?.stop('SIGKILL');
  for (const server of servers.splice(0)) await server.stop();
  gateway = undefined;
  phone = undefined;
  feed = undefined;
});

/**
 * Three registrars with an account each: one over UDP, one over TLS with SRTP, and one behind an outbound proxy, which
 * is reached over TCP and refuses what does not come that way.
 */
async function startAll(): Promise<Readonly<Record<Name, Kamailio>>> {
  phone = await SipPhone.open({ clock: systemClock });
  const tlsPort = await freePort();
  const registrar = async (user: Name, more: Record<string, string | null> = {}, tls?: number): Promise<Kamailio> => {
    const defines = { USER: user, PASSWORD: `of ${user}`, REALM: `${user}.test`, PHONE: String(phone?.port), ...more };
    const listen = { port: await freeSipPort(), ...(tls === undefined ? {} : { tlsPort: tls }) };
    const server = await startKamailio({ config: 'registrar.cfg', ...listen, defines });
    servers.push(server);
    return server;
  };
  const all = {
    default: await registrar('default'),
    berlin: await registrar(
      'berlin',
      { WITH_TLS: null, CERT: tlsPath('phone.pem'), KEY: tlsPath('phone.key') },
      tlsPort,
    ),
    carrier: await registrar('carrier', { WITH_EDGE: null }),
  };
  const edge = await startKamailio({ config: 'edge.cfg', port: await freeSipPort(), defines: {} });
  servers.push(edge);
  const trunks = [
    { name: 'berlin', registrar: `sip:127.0.0.1:${tlsPort};transport=tls`, user: 'berlin', password: 'of berlin' },
    {
      name: 'carrier',
      registrar: `sip:127.0.0.1:${all.carrier.port}`,
      proxy: `sip:127.0.0.1:${edge.port};transport=tcp`,
      user: 'carrier',
      password: 'of carrier',
    },
  ];
  const { first, last } = await freeUdpPorts(20);
  gateway = await startGateway({
    ...PRETENDED,
    SIP_PORT: String(await freeSipPort()),
    SIP_TLS_PORT: String(await freePort()),
    SIP_TLS_CERT: tlsPath('gateway.pem'),
    SIP_TLS_KEY: tlsPath('gateway.key'),
    SIP_TLS_CA: tlsPath('ca.pem'),
    RTP_PORTS: `${first}-${last}`,
    SIP_REGISTRAR: `sip:127.0.0.1:${all.default.port}`,
    SIP_USER: 'default',
    SIP_PASSWORD: 'of default',
    SIP_TRUNKS: JSON.stringify(trunks),
  });
  feed = await readFeed(gateway.url);
  await expect.poll(() => metric('trunkline_sip_registered')).toBe('1');
  return all;
}

async function metric(name: string): Promise<string | undefined> {
  const lines = (await gateway?.metrics())?.split('\n') ?? [];
  return lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
}

function registered(name: Name): Promise<string | undefined> {
  return metric(`trunkline_sip_trunk_registered{trunk="${name}"}`);
}

/** The phone calls the account at its registrar, and is put through to us. */
async function callFrom(server: Kamailio, user: Name): Promise<void> {
  const call = await phone?.dial({ uri: `sip:${user}@127.0.0.1:${server.port}`, ...QUIET });
  await call?.answered;
  const started = await feed?.until((event) => event.type === 'call.started' && event.callId === call?.callId);
  expect(started).toMatchObject({ from: 'phone' });
  await expect.poll(() => call?.media?.packets.length).toBeGreaterThan(5);
  call?.hangup();
  await feed?.until((event) => event.type === 'call.ended' && event.callId === call?.callId);
}

/** We call over the trunk, which asks for the password, and are put through to the phone. Resolves with its Vias. */
async function callOver(trunk: Name): Promise<string[]> {
  const placed = await fetch(`${gateway?.url}/v1/calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to: '+14155550100', trunk }),
  });
  expect(placed.status).toBe(201);
  const { id } = (await placed.json()) as { id: string };
  const call = await phone?.nextCall();
  if (call?.invite === null || call === undefined) throw new Error('no call came');
  expect(headersOf(call.invite, 'From')[0]).toContain(`<sip:${trunk}@`);
  await call.answer({ ...QUIET, srtp: call.invite.body.includes('RTP/SAVP') });
  await feed?.until((event) => event.type === 'call.started' && event.callId === id);
  await expect.poll(() => call.media?.packets.length).toBeGreaterThan(5);
  call.press('5');
  await feed?.until((event) => event.type === 'dtmf' && event.callId === id);
  await fetch(`${gateway?.url}/v1/calls/${id}/hangup`, { method: 'POST' });
  expect(await call.ended).toMatchObject({ endedBy: 'bridge' });
  return headersOf(call.invite, 'Via').map((via) => via.split(' ')[0] ?? '');
}

describe.skipIf(!hasKamailio)(`several registrations${hasKamailio ? '' : ' (not run: no Kamailio)'}`, () => {
  it('stand side by side, each is called and calls, over its own transport and proxy', async () => {
    const all = await startAll();
    for (const name of NAMES) {
      expect(await registered(name)).toBe('1');
      await callFrom(all[name], name);
    }
    expect(await callOver('default')).toEqual(['SIP/2.0/UDP', 'SIP/2.0/UDP']);
    expect(await callOver('berlin')).toEqual(['SIP/2.0/UDP', 'SIP/2.0/TLS']);
    expect(await callOver('carrier')).toEqual(['SIP/2.0/UDP', 'SIP/2.0/UDP', 'SIP/2.0/TCP']);
  });

  it('end with the gateway, and one that is lost leaves the others alone', async () => {
    const all = await startAll();
    await all.berlin.stop();
    await expect.poll(() => registered('berlin')).toBe('0');
    expect(await metric('trunkline_sip_registered')).toBe('0');
    expect(await registered('carrier')).toBe('1');
    await callFrom(all.carrier, 'carrier');
    await callOver('default');
    expect(await gateway?.stop()).toBe(0);
    for (const name of ['default', 'carrier'] as const) {
      const call = await phone?.dial({ uri: `sip:${name}@127.0.0.1:${all[name].port}`, ...QUIET });
      await expect(call?.answered).rejects.toMatchObject({ status: 404 });
    }
  });
});
