/** What runs of the part. */
import { listenFor } from '../../foundation/listen.ts';
import type { OpenPart } from '../../parts/part.ts';
import type { Services } from '../../parts/services.ts';
import { SipAgent } from './agent.ts';

/** The user agent on its ports. */
export function openSip(services: Services): OpenPart {
  const { settings, log } = services;
  const { HOST: host, SIP_PORT, SIP_TLS_PORT } = settings;
  const agent = new SipAgent(services);
  const overTls = { listen: (...at: Parameters<SipAgent['listenTls']>) => agent.listenTls(...at) };
  return {
    dialer: agent,
    listen: async () => {
      if (SIP_PORT !== 0) await listenFor('SIP', agent, { host, port: SIP_PORT, setting: 'SIP_PORT' }, log);
      if (SIP_TLS_PORT === 0) return;
      await listenFor('SIP over TLS', overTls, { host, port: SIP_TLS_PORT, setting: 'SIP_TLS_PORT' }, log);
    },
    drain: () => agent.drain(),
    close: () => agent.close(),
  };
}
