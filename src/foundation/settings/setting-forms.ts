/** Settings whose form is more than a number, a choice or a text: URLs, keys, names of voices, ports. */
import { z } from 'zod';
import { isAddressRange } from '../addresses.ts';
import { type SettingSpec, splitList, whole } from './setting-kinds.ts';

function isPublicUrl(value: string): boolean {
  if (value === '') return true;
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  return (
    /^https?:$/.test(url.protocol) &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === ''
  );
}

/** PUBLIC_URL. */
export const publicUrl: SettingSpec<string> = {
  schema: z
    .string()
    .refine(isPublicUrl, 'empty or an origin such as https://bridge.example.com')
    .transform((value) => value.replace(/\/$/, '')),
  defaultText: '',
  unit: 'origin',
  meaning:
    'How carriers reach this server from outside (https://host, no path), which needs API_KEYS; empty = as the request says',
};

function isServiceUrl(value: string): boolean {
  return value === '' || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol));
}

/** TRANSLATE_BASE_URL. */
export const serviceUrl: SettingSpec<string> = {
  schema: z
    .string()
    .refine(isServiceUrl, 'empty or an http or https URL such as http://127.0.0.1:8000/v1')
    .transform((value) => value.replace(/\/+$/, '')),
  defaultText: '',
  unit: 'http or https URL',
  meaning: 'Chat endpoint in the style of OpenAI (…/v1) that translates transcripts; empty = no translation',
};

/** API_KEYS. */
export const apiKeys: SettingSpec<readonly string[]> = {
  schema: z.string().transform(splitList),
  defaultText: '',
  unit: 'keys, comma-separated',
  meaning:
    'Keys that open /v1, /docs, /metrics and the page, at least 16 characters each where others can reach this server; empty = open to this machine only',
  secret: true,
};

function isSocketUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hash } = new URL(value);
  return /^wss?:$/.test(protocol) && hash === '';
}

/** APP_URL. */
export const appUrl: SettingSpec<string> = {
  schema: z
    .string()
    .refine(
      (value) => value === '' || isSocketUrl(value),
      'empty or a WebSocket URL such as wss://app.example.com/calls',
    ),
  defaultText: '',
  unit: 'ws or wss URL',
  meaning: 'The app that talks to callers; each call is one connection to it. Empty = none, calls are only captioned',
};

/** APP_TWIML_URL. */
export const twimlUrl: SettingSpec<string> = {
  schema: z.string().refine(isServiceUrl, 'empty or an http or https URL such as https://app.example.com/voice'),
  defaultText: '',
  unit: 'http or https URL',
  meaning: "The app's own TwiML webhook, asked for each call as Twilio would, in place of APP_URL; empty = none",
};

/** APP_ALLOWED_ORIGINS. */
export const appOrigins: SettingSpec<readonly string[]> = {
  schema: z
    .string()
    .transform(splitList)
    .refine((list) => list.every(isSocketUrl), 'WebSocket origins such as wss://app.example.com, comma-separated')
    .transform((list) => list.map((value) => new URL(value).origin)),
  defaultText: '',
  unit: 'origins, comma-separated',
  meaning:
    "Apps, beside APP_URL's own origin, that a stream may ask for without a call token: wss://host[:port], which stands for https://host[:port] too",
};

const VOICE_PAIR = /^[^=\s].*=\s*[^=\s]+$/;

function isVoiceMap(pairs: readonly string[]): boolean {
  const names = pairs.map((pair) => pair.slice(0, pair.lastIndexOf('=')).trim().toLowerCase());
  return pairs.every((pair) => VOICE_PAIR.test(pair)) && new Set(names).size === names.length;
}

/** VOICE_MAP: the pairs as they were written, each `foreign=ours`. */
export const voiceMap: SettingSpec<readonly string[]> = {
  schema: z
    .string()
    .transform(splitList)
    .refine(isVoiceMap, 'pairs such as en-US-Journey-O=slt,Charlie-flash_v2_5=rms, each name on the left once'),
  defaultText: '',
  unit: 'foreign=ours, comma-separated',
  meaning:
    'Voices of ours that stand for those of other platforms, in any case. In calls a voice that is neither is replaced by DEFAULT_VOICE; over HTTP it is refused',
};

/** RFC 3261 §19.1, as far as it names a server: no TLS, no user. */
const SIP_SERVER = /^sip:(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:;transport=(?:udp|tcp))?$/i;

/** SIP_REGISTRAR and SIP_TRUNK; `meaning` is what README says of it. */
export function sipServer(meaning: string): SettingSpec<string> {
  const schema = z
    .string()
    .refine(
      (value) => value === '' || SIP_SERVER.test(value),
      'empty or a server such as sip:pbx.example.com:5060;transport=tcp',
    );
  return { schema, defaultText: '', unit: 'sip:host[:port][;transport=udp or tcp]', meaning };
}

function arePorts(value: string): boolean {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(value) ?? [];
  return Number(first) >= 1024 && Number(first) < Number(last) && Number(last) <= 65_535;
}

/** RTP_PORTS. */
export const rtpPorts: SettingSpec<string> = {
  schema: z.string().refine(arePorts, 'two ports from 1024 to 65535 such as 16384-16583'),
  defaultText: '16384-16583',
  unit: 'first-last',
  meaning: 'UDP ports for the media of SIP calls, two for each call',
};

/** SIP_PUBLIC_ADDRESS. */
export const sipPublicAddress: SettingSpec<string> = {
  schema: z
    .string()
    .refine(
      (value) => value === '' || (isAddressRange(value) && !value.includes('/')),
      'empty or an address such as 203.0.113.7',
    ),
  defaultText: '',
  unit: 'address',
  meaning:
    'Address at which SIP peers reach this machine, behind NAT the outer one; empty = HOST, or the first of the machine',
};

/** RFC 4028 §4: below 90 s a session would be refreshed too often. */
export function sessionExpires(meaning: string): SettingSpec<number> {
  const spec = whole(1800, 0, 86_400, 's', meaning);
  return {
    ...spec,
    schema: spec.schema.refine((value) => value === 0 || value >= 90, '0, or a whole number from 90 to 86400'),
  };
}

/** ARI_URL. */
export const ariUrl: SettingSpec<string> = {
  schema: z
    .string()
    .refine(isServiceUrl, 'empty or an http or https URL such as http://127.0.0.1:8088/ari')
    .transform((value) => value.replace(/\/+$/, '')),
  defaultText: '',
  unit: 'http or https URL',
  meaning: 'The REST interface of an Asterisk (…/ari) whose calls come by Stasis; empty = none',
};

/** ARI_APP. */
export const ariApp: SettingSpec<string> = {
  schema: z.string().regex(/^[A-Za-z0-9_]{1,32}$/, '1 to 32 letters, digits and _'),
  defaultText: 'trunkline',
  unit: 'name',
  meaning: 'The name under which the dialplan knows this gateway: Stasis(trunkline,…). One gateway has it alone',
};

/** ASTERISK_MEDIA_URL. */
export const asteriskMediaUrl: SettingSpec<string> = {
  schema: z
    .string()
    .refine((value) => value === '' || isSocketUrl(value), 'empty or a WebSocket URL such as ws://127.0.0.1:8088/media')
    .transform((value) => value.replace(/\/+$/, '')),
  defaultText: '',
  unit: 'ws or wss URL',
  meaning: 'Where that Asterisk is dialled for the sound of those calls (…/media); empty = at the address of ARI_URL',
};
