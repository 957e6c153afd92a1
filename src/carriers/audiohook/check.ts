/** The check of `trunkline doctor` for AudioHook: what has to be entered in Genesys Cloud, and what would refuse it. */

import type { Finding } from '../../foundation/finding.ts';
import type { Settings } from '../../foundation/settings/settings.ts';

type AudioHookSettings = Pick<Settings, 'GENESYS_API_KEY' | 'GENESYS_CLIENT_SECRET' | 'PUBLIC_URL'>;

const NAME = 'genesys';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Nothing where neither is set. It repeats no secret. */
export function checkAudioHook({ GENESYS_API_KEY, GENESYS_CLIENT_SECRET, PUBLIC_URL }: AudioHookSettings): Finding[] {
  if (GENESYS_API_KEY === '' && GENESYS_CLIENT_SECRET === '') return [];
  if (GENESYS_API_KEY === '')
    return [warn('GENESYS_CLIENT_SECRET has no GENESYS_API_KEY beside it: only this machine may connect')];
  const { protocol, host } = new URL(PUBLIC_URL === '' ? 'http://none' : PUBLIC_URL);
  return [
    protocol === 'https:'
      ? { name: NAME, status: 'ok', detail: `the connection URI is wss://${host}/genesys/media` }
      : warn('Genesys Cloud connects to wss alone: set PUBLIC_URL to the https address that it reaches'),
    ...(GENESYS_CLIENT_SECRET === ''
      ? [warn('GENESYS_CLIENT_SECRET is not set: sessions are believed by their key alone, without a signature')]
      : []),
    ...(BASE64.test(GENESYS_CLIENT_SECRET)
      ? []
      : [warn('GENESYS_CLIENT_SECRET is no base64, as Genesys shows it: no signature will fit')]),
  ];
}

function warn(detail: string): Finding {
  return { name: NAME, status: 'warn', detail };
}
