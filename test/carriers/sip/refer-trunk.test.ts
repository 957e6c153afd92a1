/** A trunk that gives a call of ours on, over real sockets: whom we call then, as whom, and who sees our password. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { SipAgent } from '../../../src/carriers/sip/agent.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { type Gateway, startCalls } from '../../calls/harness.ts';
import { eventually } from '../../helpers/eventually.ts';
import { freeSipPort } from '../../helpers/ports.ts';
import { answer, headerIn, OFFER, request } from './line.ts';

const CHALLENGE = 'WWW-Authenticate: Digest realm="pbx", nonce="1", algorithm=MD5, qop="auth"';
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A program that speaks SIP as the test says. */
class Peer {
  readonly socket: Socket = createSocket('udp4');
  readonly #received: string[] = [];
  #bridgePort = 0;
  #cseq = 0;

  get port(): number {
    return this.socket.address().port;
  }

  get contact(): string {
    return `Contact: <sip:pbx@127.0.0.1:${this.port}>`;
  }

  static async open(): Promise<Peer> {
    const peer = new Peer();
    peer.socket.on('message', (bytes, from) => {
      peer.#received.push(bytes.toString('latin1'));
      peer.#bridgePort = from.port;
    });
    peer.socket.bind(0, '127.0.0.1');
    await once(peer.socket, 'listening');
    closing.push(() => peer.socket.close());
    return peer;
  }

  send(text: string): void {
    this.socket.send(text, this.#bridgePort, '127.0.0.1');
  }

  /** The next message of this kind that has not been looked at; those before are passed over. */
  async next(kind: RegExp): Promise<string> {
    await eventually(() => expect(this.#received.some((text) => kind.test(text))).toBe(true));
    const index = this.#received.findIndex((text) => kind.test(text));
    return this.#received.splice(0, index + 1).at(-1) ?? '';
  }

  /** A request within the call that began with `invite`. */
  ask(method: string, invite: string, headers: readonly string[]): void {
    const callId = headerIn(invite, 'Call-ID');
    const text = request(method, { callId, to: headerIn(invite, 'From'), cseq: ++this.#cseq, headers });
    this.send(text.replace(/^From: .*$/m, `From: ${headerIn(invite, 'To')};tag=far`));
  }
}

interface Line {
  readonly gateway: Gateway;
  readonly trunk: Peer;
  readonly callId: string;
  /** The INVITE of the call that is live. */
  readonly invite: string;
}

async function begin(environment: Record<string, string> = {}): Promise<Line> {
  const trunk = await Peer.open();
  const account = { SIP_TRUNK: `sip:localhost:${trunk.port}`, SIP_USER: '1001', SIP_PASSWORD: 'secret' };
  const gateway = startCalls({ SIP_PORT: '5060', SIP_TRANSFERS: 'trunk', APP_URL: '', ...account, ...environment });
  const { settings, log, metrics } = gateway.context;
  const agent = new SipAgent({ settings, registry: gateway.registry, clock: systemClock, log, metrics });
  await agent.listen('127.0.0.1', await freeSipPort());
  closing.push(async () => {
    void gateway.registry.drain(0);
    gateway.clock.advance(60_000);
    await agent.close();
  });
  const { callId } = await agent.dial({ to: '6001', from: null, app: null, parameters: {} });
  const invite = await trunk.next(/^INVITE/);
  trunk.send(answer(invite, '200 OK', [trunk.contact], OFFER));
  await eventually(() => expect(gateway.registry.get(callId)).toMatchObject({ state: 'live' }));
  return { gateway, trunk, callId, invite };
}

describe('a trunk that gives a call of ours on', () => {
  it('has the number called at itself, as our user, with our password', async () => {
    const { gateway, trunk, callId, invite } = await begin();
    trunk.ask('REFER', invite, ['Refer-To: <tel:+4930123>', 'Referred-By: <sip:6001@pbx>']);
    await trunk.next(/^SIP\/2\.0 202 /);
    const first = await trunk.next(/^INVITE/);
    expect(first).toMatch(new RegExp(`^INVITE sip:\\+4930123@localhost:${trunk.port} `));
    expect(headerIn(first, 'From')).toContain('sip:1001@');
    trunk.send(answer(first, '401 Unauthorized', [CHALLENGE]));
    const signed = await trunk.next(/^INVITE/);
    expect(headerIn(signed, 'Authorization')).toContain('username="1001"');
    expect(headerIn(signed, 'Referred-By')).toBe('<sip:6001@pbx>');
    trunk.send(answer(signed, '200 OK', [trunk.contact], OFFER));
    const bye = await trunk.next(/^BYE/);
    expect(headerIn(bye, 'Call-ID')).toBe(headerIn(invite, 'Call-ID'));
    trunk.send(answer(bye, '200 OK'));
    expect(gateway.registry.get(callId)).toMatchObject({ state: 'live' });
    gateway.registry.hangup(callId);
    expect(headerIn(await trunk.next(/^BYE/), 'Call-ID')).toBe(headerIn(signed, 'Call-ID'));
  });

  it('has another peer called without our password', async () => {
    const { gateway, trunk, callId, invite } = await begin();
    const other = await Peer.open();
    trunk.ask('REFER', invite, [`Refer-To: <sip:6002@127.0.0.1:${other.port}>`, 'Refer-Sub: false']);
    const first = await other.next(/^INVITE/);
    other.send(answer(first, '401 Unauthorized', [CHALLENGE]));
    await other.next(/^ACK/);
    trunk.ask('INFO', invite, []);
    await trunk.next(/^SIP\/2\.0 200 /);
    expect(gateway.registry.get(callId)).toMatchObject({ state: 'live' });
    trunk.ask('REFER', invite, [`Refer-To: <sip:6003@127.0.0.1:${other.port}>`]);
    expect(await other.next(/^INVITE/)).not.toMatch(/^(?:Proxy-)?Authorization:/im);
  });
});
