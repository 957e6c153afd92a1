/** Settings of SIP that contradict each other. */
import type { Settings } from './settings.ts';

/** What is wrong with them, each as a sentence for the operator. */
export function findSipProblems(settings: Settings): string[] {
  const { SIP_PORT, SIP_TLS_PORT, SIP_TLS_CERT, SIP_TLS_KEY, SIP_TLS_CA } = settings;
  const problems: string[] = [];
  for (const name of ['SIP_REGISTRAR', 'SIP_TRUNK', 'SIP_PROXY'] as const) {
    const server = settings[name];
    const isTls = /^sips:|;transport=tls$/i.test(server);
    if (server === '' || SIP_PORT !== 0 || (isTls && SIP_TLS_PORT !== 0)) continue;
    const remedy = isTls ? 'SIP_TLS_PORT, usually to 5061' : 'SIP_PORT, usually to 5060';
    problems.push(`${name} needs a local SIP port: set ${remedy}`);
  }
  if (settings.SIP_TRUNKS !== '' && SIP_PORT === 0 && SIP_TLS_PORT === 0)
    problems.push('SIP_TRUNKS needs a local SIP port: set SIP_PORT or SIP_TLS_PORT');
  if (settings.SIP_REGISTRAR !== '' && settings.SIP_USER === '')
    problems.push('SIP_REGISTRAR: set SIP_USER, the name to register');
  if (SIP_TLS_PORT !== 0 && (SIP_TLS_CERT === '' || SIP_TLS_KEY === ''))
    problems.push('SIP_TLS_PORT needs a certificate and its key: set SIP_TLS_CERT and SIP_TLS_KEY');
  if ((SIP_TLS_CERT === '') !== (SIP_TLS_KEY === ''))
    problems.push('SIP_TLS_CERT and SIP_TLS_KEY belong together: set both or neither');
  if (settings.SIP_TLS_CLIENTS === 'verified' && SIP_TLS_CA === '')
    problems.push('SIP_TLS_CLIENTS: got verified, but SIP_TLS_CA names no certificates to verify with');
  if (SIP_TLS_PORT !== 0 && SIP_TLS_PORT === SIP_PORT)
    problems.push(`SIP_TLS_PORT: got ${SIP_TLS_PORT}, which is SIP_PORT, expected another port`);
  return problems;
}
