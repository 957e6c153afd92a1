/** The check of `trunkline doctor` for SIP trunks: whether SIP_TRUNKS can be read, and what follows from it. */

import type { Finding } from '../../foundation/finding.ts';
import { ConfigError } from '../../foundation/settings/config.ts';
import { readTrunks, type SipTrunk, type TrunkSettings, uriAt } from './trunk-list.ts';

const NAME = 'sip trunks';

/** One finding for each registrar or trunk; nothing where none is set. It repeats no secret. */
export function checkTrunks(settings: TrunkSettings): Finding[] {
  try {
    return readTrunks(settings).map((trunk) => ({ name: NAME, status: 'ok', detail: describeTrunk(trunk) }));
  } catch (error) {
    if (error instanceof ConfigError) return [{ name: NAME, status: 'fail', detail: error.message }];
    throw error;
  }
}

function describeTrunk({ name, registrar, server, proxy, user, srtp, prefixes }: SipTrunk): string {
  const parts = [
    ...(registrar === null ? [] : [`registers ${user} at ${uriAt(registrar, null)}`]),
    `calls go to ${uriAt(server, null)}`,
    ...(proxy === null ? [] : [`by way of ${uriAt(proxy, null)}`]),
    `SRTP ${srtp}`,
    ...(prefixes === null ? [] : [describePrefixes(prefixes)]),
  ];
  return `${name}: ${parts.join(', ')}`;
}

function describePrefixes(prefixes: readonly string[]): string {
  return prefixes.length === 0 ? 'only for calls that name it' : `for numbers with ${prefixes.join(', ')}`;
}
