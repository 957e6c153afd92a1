/** SIP: telephones, trunks and PBXs by RTP, and recorders' calls (SIPREC). */
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Part } from '../../parts/part.ts';

const PORTS = ['SIP_PORT', 'SIP_TLS_PORT'] as const satisfies readonly (keyof Settings)[];

/** On where it has a port. */
export const sip: Part = {
  name: 'sip',
  isOn: ({ SIP_PORT, SIP_TLS_PORT }) => SIP_PORT !== 0 || SIP_TLS_PORT !== 0,
  carriers: [
    { id: 'sip', name: 'SIP' },
    { id: 'siprec', name: 'SIPREC' },
  ],
  waysIn: [
    { id: 'sip', name: 'SIP', opens: [PORTS], protects: 'SIP_ALLOW', byAddress: true },
    { id: 'siprec', name: 'SIPREC', opens: [PORTS], protects: 'SIP_ALLOW', byAddress: true },
    {
      id: 'sip_registration',
      name: 'SIP registration',
      opens: [PORTS, ['SIP_REGISTRAR', 'SIP_TRUNKS']],
      gauge: 'sipRegistered',
    },
  ],
  check: async (settings) => (await import('./check.ts')).checkTrunks(settings),
  open: async (services) => (await import('./open.ts')).openSip(services),
};
