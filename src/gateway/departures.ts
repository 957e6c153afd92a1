/** Where speech, or what was said, leaves this server for. */

import { brainOf } from '../clients/realtime/which-brain.ts';
import { isLoopback } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { SystemAnswer } from '../http/system/schema.ts';

type Departure = SystemAnswer['departures'][number];

/** Settings that name another server, and what goes there. Those that this version does not have are passed over. */
const DESTINATIONS: readonly (readonly [setting: string, what: Departure['what']])[] = [
  ['TRANSLATE_BASE_URL', 'translation'],
  ['HINTS_BASE_URL', 'hints'],
  ['ASR_URL', 'recognition'],
  ['TTS_URL', 'synthesis'],
  ['CALL_WEBHOOK_URL', 'webhooks'],
];

/** One for each server that the settings name. */
export function findDepartures(settings: Settings): Departure[] {
  const answers = brainOf(settings) === 'chat' ? departureTo(settings.LLM_BASE_URL, 'answers') : [];
  return [...destinations(settings), ...answers];
}

function destinations(settings: Settings): Departure[] {
  return DESTINATIONS.flatMap(([setting, what]) => {
    const value = (settings as Readonly<Record<string, unknown>>)[setting];
    const texts: unknown[] = Array.isArray(value) ? value : [value];
    return texts.flatMap((text) => (typeof text === 'string' ? departureTo(text, what) : []));
  });
}

/** Of a URL, which may have options behind a semicolon; none where it is no URL. */
function departureTo(text: string, what: Departure['what']): Departure[] {
  const [address = ''] = text.split(';', 1);
  if (!URL.canParse(address)) return [];
  const { protocol, host, hostname } = new URL(address);
  return [{ what, to: `${protocol}//${host}`, leavesMachine: !isLoopback(hostname.replace(/^\[|\]$/g, '')) }];
}
