import { rtpPorts, sipPublicAddress, sipServer } from '../setting-forms.ts';
import { choice, choices, peers, type SettingGroup, secret, text, whole } from '../setting-kinds.ts';

/** Calls over SIP and RTP. */
export const sip = {
  title: 'SIP',
  part: 'sip',
  prefixes: ['SIP_'],
  everyday: {
    SIP_PORT: whole(0, 0, 65_535, 'port', 'UDP and TCP port for SIP, on HOST. 0 = none.'),
    SIP_ALLOW: peers(
      'Addresses that may send SIP requests, besides the hosts of SIP_REGISTRAR and SIP_TRUNK. Others get no answer.',
    ),
    SIP_REGISTRAR: sipServer('Server at which Trunkline registers, to be called through it. Empty = none.'),
    SIP_USER: text('', 'name', 'User name of Trunkline at the registrar and the trunk.'),
    SIP_PASSWORD: secret('password', 'Password of that user.'),
    SIP_TRUNK: sipServer('Server to which outgoing calls go. Empty = the registrar.'),
    SIP_PUBLIC_ADDRESS: sipPublicAddress(
      'Address at which SIP peers reach this machine; behind NAT the public one. ' +
        'Empty = HOST, or the first address of the machine.',
    ),
    RTP_PORTS: rtpPorts('UDP ports for the audio of SIP calls. Each call takes two.'),
  },
  further: {
    SIP_PROXY: sipServer('Outbound proxy: requests to SIP_REGISTRAR and SIP_TRUNK go there first. Empty = none.'),
    SIP_TRUNKS: {
      ...secret(
        'file, or list in []',
        'Further registrars and trunks, each with a name, registrar or server, user, password, proxy, srtp and ' +
          'prefixes: a YAML file, or the list itself.',
      ),
      inFile: { kind: 'records' },
    },
    SIP_TLS_PORT: whole(0, 0, 65_535, 'port', 'Port for SIP over TLS, on HOST, usually 5061. 0 = none.'),
    SIP_TLS_CERT: text('', 'file', 'Certificate for SIP over TLS, with its chain, in PEM. Trunks that ask get it too.'),
    SIP_TLS_KEY: text('', 'file', 'Private key of SIP_TLS_CERT, in PEM.'),
    SIP_TLS_CA: text(
      '',
      'file',
      'Certificates, in PEM, whose signatures on the certificates of SIP peers count. Empty = the public ones of Node.',
    ),
    SIP_SRTP: choice(
      'allow',
      ['off', 'allow', 'require'],
      'Encrypted sound (SRTP) in SIP calls: never, where the other side wants it, or always.',
    ),
    SIP_CODECS: choices(
      ['opus', 'g722', 'mulaw', 'alaw'],
      ['opus', 'g722', 'mulaw', 'alaw'],
      'Codecs that calls may have, in the order in which we offer them. Of an offer the wideband ones (opus, g722) ' +
        "are taken first, otherwise in the other side's order.",
    ),
    SIP_TRANSFERS: choice(
      'off',
      ['off', 'trunk', 'peers'],
      'Whose REFER in a call is obeyed, so that Trunkline calls somebody else and the call goes on there: ' +
        "nobody's, that of registrars and trunks, or that of everybody who may call.",
    ),
    SIP_TLS_CLIENTS: choice(
      'any',
      ['any', 'verified'],
      'Who may connect over TLS: anybody in SIP_ALLOW, or of them only who shows a certificate signed by SIP_TLS_CA.',
    ),
    COMFORT_NOISE: choice(
      'auto',
      ['auto', 'off'],
      'What SIP calls carry while nothing is said: low noise, as comfort noise (RFC 3389) where the other side ' +
        'offers that, or digital silence, which sounds like a dead line.',
    ),
    RTP_ALLOW: peers(
      'Addresses of media relays. The audio of a SIP call may also come from them, besides the address of the SIP ' +
        'peer and the one in its session description.',
      '',
    ),
  },
} as const satisfies SettingGroup;
