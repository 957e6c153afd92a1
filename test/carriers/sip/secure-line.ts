/** A gateway with SIP over TLS, and phones that call it or are its trunk, on loopback. */

import { SipAgent } from '../../../src/carriers/sip/agent.ts';
import { SipPhone } from '../../../src/carriers/sip/simulator/phone.ts';
import type { PhoneTls } from '../../../src/carriers/sip/simulator/socket.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { type Gateway, startCalls } from '../../calls/harness.ts';
import { freeUdpPorts } from '../../helpers/ports.ts';
import { tlsPath, tlsText } from '../../helpers/tls-files.ts';

/** What a gateway needs to listen on TLS. */
export const TLS_FILES = {
  SIP_TLS_CERT: tlsPath('gateway.pem'),
  SIP_TLS_KEY: tlsPath('gateway.key'),
  SIP_TLS_CA: tlsPath('ca.pem'),
} as const;

/** A phone that checks who it speaks to and can be called. */
export const PHONE_TLS: PhoneTls = {
  ca: tlsText('ca.pem'),
  cert: tlsText('phone.pem'),
  key: tlsText('phone.key'),
};

export class SecureLine {
  readonly gateway: Gateway;
  readonly agent: SipAgent;
  readonly port: number;
  readonly #phones: SipPhone[] = [];

  private constructor(gateway: Gateway, agent: SipAgent, port: number) {
    this.gateway = gateway;
    this.agent = agent;
    this.port = port;
  }

  static async open(environment: Record<string, string> = {}): Promise<SecureLine> {
    const { first, last } = await freeUdpPorts(20);
    const gateway = startCalls({
      SIP_TLS_PORT: '5061',
      RTP_PORTS: `${first}-${last}`,
      ...TLS_FILES,
      ...environment,
    });
    const { settings, log, metrics } = gateway.context;
    const agent = new SipAgent({ settings, registry: gateway.registry, clock: systemClock, log, metrics });
    const address = await agent.listenTls('127.0.0.1', 0);
    return new SecureLine(gateway, agent, Number(address.split(':')[1]));
  }

  /** A phone over TLS. */
  async phone(tls: PhoneTls = PHONE_TLS): Promise<SipPhone> {
    const phone = await SipPhone.open({ clock: systemClock, tls });
    this.#phones.push(phone);
    return phone;
  }

  get uri(): string {
    return `sip:bridge@127.0.0.1:${this.port};transport=tls`;
  }

  async close(): Promise<void> {
    for (const phone of this.#phones) await phone.close();
    // The calls' clock stands still, so that nobody waits for their last words.
    void this.gateway.registry.drain(0);
    this.gateway.clock.advance(60_000);
    await this.agent.close();
  }
}
