/** What the phone of `trunkline call` has for TLS: the files that the server's trunks have, too. */
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import type { PhoneTls } from '../../carriers/sip/simulator/socket.ts';
import type { Settings } from '../../foundation/settings/settings.ts';

type TlsSettings = Pick<Settings, 'SIP_TLS_CA' | 'SIP_TLS_CERT' | 'SIP_TLS_KEY'>;

/**
 * Whose certificates it trusts, and its own for a server that wants one. Without SIP_TLS_CA the public CAs count.
 * @throws Error that names the setting whose file cannot be read
 */
export function phoneTls(settings: TlsSettings): PhoneTls {
  const ca = settings.SIP_TLS_CA === '' ? rootCertificates.join('\n') : readPem('SIP_TLS_CA', settings);
  if (settings.SIP_TLS_CERT === '' || settings.SIP_TLS_KEY === '') return { ca };
  return { ca, cert: readPem('SIP_TLS_CERT', settings), key: readPem('SIP_TLS_KEY', settings) };
}

function readPem(setting: keyof TlsSettings, settings: TlsSettings): string {
  try {
    return readFileSync(settings[setting], 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new Error(`${setting}: got ${settings[setting]} (${code}), expected a file in PEM`);
  }
}
