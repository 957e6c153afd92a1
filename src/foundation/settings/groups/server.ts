import { publicUrl } from '../setting-forms.ts';
import { choice, type SettingGroup, text, whole } from '../setting-kinds.ts';

/** Where Trunkline listens and what it logs. */
export const server = {
  title: 'Server',
  part: 'server',
  everyday: {
    HOST: text(
      '127.0.0.1',
      'address',
      'Address on which the server listens. Any but a loopback address needs API_KEYS.',
    ),
    PORT: whole(8080, 0, 65535, 'port', 'Port on which the server listens. 0 = any free port.'),
    PUBLIC_URL: publicUrl(
      'Address at which carriers reach this server (https://host, no path). It needs API_KEYS. ' +
        'Empty = the address that each request names.',
    ),
    TLS_CERT: text(
      '',
      'file',
      'Certificate of this server, with its chain, in PEM. With it the port speaks https and wss alone. It is read ' +
        'again when it changes.',
    ),
    TLS_KEY: text('', 'file', 'Private key of TLS_CERT, in PEM, without a passphrase.'),
    LOG_LEVEL: choice(
      'info',
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'Lowest level that is logged.',
    ),
  },
  further: {
    LOG_FORMAT: choice(
      'auto',
      ['auto', 'json', 'pretty'],
      'Format of the log. json = one object a line. pretty = text for people. ' +
        'auto = pretty if standard output is a terminal, otherwise json.',
    ),
    DRAIN_TIMEOUT_MS: whole(
      30_000,
      0,
      43_200_000,
      'ms',
      'After SIGTERM, live calls and sessions for live audio or speech may continue for this long (12 hours ' +
        'at most). Then the server ends them.',
    ),
  },
} as const satisfies SettingGroup;
