/** The forms of settings that are more than a number, a choice or a text: URLs, keys, voices, ports. */
import { z } from 'zod';
import { isAddressRange } from '../addresses.ts';
import { OUTBOUND_PURPOSES, parseOutboundEntry } from '../outbound-targets.ts';
import { type SettingSpec, secret, splitList, whole } from './setting-kinds.ts';

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
export function publicUrl(meaning: string): SettingSpec<string> {
  return {
    schema: z
      .string()
      .refine(isPublicUrl, 'empty or an origin such as https://bridge.example.com')
      .transform((value) => value.replace(/\/$/, '')),
    defaultText: '',
    unit: 'origin',
    meaning,
  };
}

function isServiceUrl(value: string): boolean {
  return value === '' || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol));
}

/** LLM_BASE_URL. */
export function serviceUrl(meaning: string): SettingSpec<string> {
  return {
    schema: z
      .string()
      .refine(isServiceUrl, 'empty or an http or https URL such as http://127.0.0.1:8000/v1')
      .transform((value) => value.replace(/(?<!\/)\/+$/, '')),
    defaultText: '',
    unit: 'http or https URL',
    meaning,
  };
}

/** The time of one chat endpoint: 0 = that of all. */
export function chatTimeout(meaning: string): SettingSpec<number> {
  const spec = whole(0, 0, 600_000, 'ms', meaning);
  return {
    ...spec,
    schema: spec.schema.refine((value) => value === 0 || value >= 1000, '0, or a whole number from 1000 to 600000'),
  };
}

function isDatabaseUrl(value: string): boolean {
  return value === '' || (URL.canParse(value) && /^postgres(?:ql)?:$/.test(new URL(value).protocol));
}

/** DATABASE_URL. It may have a password. */
export function databaseUrl(meaning: string): SettingSpec<string> {
  return {
    schema: z
      .string()
      .refine(isDatabaseUrl, 'empty or a URL such as postgres://user:password@db.example.com/trunkline'),
    defaultText: '',
    unit: 'postgres URL',
    meaning,
    secret: true,
  };
}

/** Nobody can guess a random key of this length. */
const CLUSTER_KEY_MIN_CHARS = 32;

/** With anything else a header would be refused, by an error that may repeat it. */
const IN_A_HEADER = /^[\x21-\x7e]*$/;
/** The same for a passphrase: spaces at its ends would be lost. */
const WORDS_IN_A_HEADER = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** CLUSTER_KEY. */
export function clusterKey(meaning: string): SettingSpec<string> {
  return {
    schema: z
      .string()
      .refine(
        (value) => value === '' || (value.length >= CLUSTER_KEY_MIN_CHARS && WORDS_IN_A_HEADER.test(value)),
        `empty, or a key of ${CLUSTER_KEY_MIN_CHARS} ASCII characters or more (openssl rand -hex 32)`,
      ),
    defaultText: '',
    unit: 'key',
    meaning,
    secret: true,
  };
}

/** ASR_API_KEY, TTS_API_KEY: what is sent as a bearer token. */
export function bearerKey(meaning: string): SettingSpec<string> {
  return {
    ...secret('key', meaning),
    schema: z.string().refine((value) => IN_A_HEADER.test(value), 'a key of ASCII characters without spaces'),
  };
}

/** API_KEYS. */
export function apiKeys(meaning: string): SettingSpec<readonly string[]> {
  return {
    schema: z.string().transform(splitList),
    defaultText: '',
    unit: 'keys, comma-separated',
    meaning,
    secret: true,
  };
}

function isSocketUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hash } = new URL(value);
  return /^wss?:$/.test(protocol) && hash === '';
}

/** OUTBOUND_ALLOW. */
export function outboundAllow(meaning: string): SettingSpec<readonly string[]> {
  return {
    schema: z
      .string()
      .transform(splitList)
      .refine(
        (list) => list.every((entry) => parseOutboundEntry(entry) !== null),
        'networks and hosts such as flows=10.0.0.0/8,crm.local, with ' +
          `${OUTBOUND_PURPOSES.join('=, ')}= or nothing before`,
      ),
    defaultText: '',
    unit: '[purpose=]networks and hosts, comma-separated',
    meaning,
  };
}

/** APP_URL. */
export function appUrl(meaning: string): SettingSpec<string> {
  return {
    schema: z
      .string()
      .refine(
        (value) => value === '' || isSocketUrl(value),
        'empty or a WebSocket URL such as wss://app.example.com/calls',
      ),
    defaultText: '',
    unit: 'ws or wss URL',
    meaning,
  };
}

/** APP_TWIML_URL. */
export function twimlUrl(meaning: string): SettingSpec<string> {
  return {
    schema: z.string().refine(isServiceUrl, 'empty or an http or https URL such as https://app.example.com/voice'),
    defaultText: '',
    unit: 'http or https URL',
    meaning,
  };
}

/** APP_ALLOWED_ORIGINS. */
export function appOrigins(meaning: string): SettingSpec<readonly string[]> {
  return {
    schema: z
      .string()
      .transform(splitList)
      .refine((list) => list.every(isSocketUrl), 'WebSocket origins such as wss://app.example.com, comma-separated')
      .transform((list) => list.map((value) => new URL(value).origin)),
    defaultText: '',
    unit: 'origins, comma-separated',
    meaning,
  };
}

/** A voice of another platform, in small letters, and the voice of ours that speaks for it. */
export interface VoicePair {
  readonly foreign: string;
  readonly ours: string;
}

const VOICE_PAIR = /^(?<foreign>[^=\s].*)=\s*(?<ours>[^=\s]+)$/;

/** Reads `foreign=ours`; the last `=` counts. Null when `text` is no such pair. */
export function parseVoicePair(text: string): VoicePair | null {
  const { foreign, ours } = VOICE_PAIR.exec(text)?.groups ?? {};
  if (foreign === undefined || ours === undefined) return null;
  return { foreign: foreign.trim().toLowerCase(), ours };
}

function isVoiceMap(texts: readonly string[]): boolean {
  const pairs = texts.map(parseVoicePair).filter((pair) => pair !== null);
  return pairs.length === texts.length && new Set(pairs.map(({ foreign }) => foreign)).size === texts.length;
}

/** VOICE_MAP: the pairs as they were written, each `foreign=ours`. */
export function voiceMap(meaning: string): SettingSpec<readonly string[]> {
  return {
    schema: z
      .string()
      .transform(splitList)
      .refine(isVoiceMap, 'pairs such as en-US-Journey-O=slt,Charlie-flash_v2_5=rms, each name on the left once'),
    defaultText: '',
    unit: 'foreign=ours, comma-separated',
    meaning,
  };
}

/** RFC 3261 §19.1, as far as it names a server: no user. */
const SIP_SERVER =
  /^(?:sip:(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:;transport=(?:udp|tcp|tls))?|sips:(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:;transport=tls)?)$/i;

/** Whether `value` names a SIP server. */
export function isSipServer(value: string): boolean {
  return value === '' || SIP_SERVER.test(value);
}

/** SIP_REGISTRAR and SIP_TRUNK. */
export function sipServer(meaning: string): SettingSpec<string> {
  const schema = z
    .string()
    .refine(isSipServer, 'empty or a server such as sip:pbx.example.com:5060;transport=tcp or sips:pbx.example.com');
  return { schema, defaultText: '', unit: 'sip:host[:port][;transport=udp, tcp or tls]', meaning };
}

function arePorts(value: string): boolean {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(value) ?? [];
  return Number(first) >= 1024 && Number(first) < Number(last) && Number(last) <= 65_535;
}

/** RTP_PORTS. */
export function rtpPorts(meaning: string): SettingSpec<string> {
  return {
    schema: z.string().refine(arePorts, 'two ports from 1024 to 65535 such as 16384-16583'),
    defaultText: '16384-16583',
    unit: 'first-last',
    meaning,
  };
}

/** SIP_PUBLIC_ADDRESS. */
export function sipPublicAddress(meaning: string): SettingSpec<string> {
  return {
    schema: z
      .string()
      .refine(
        (value) => value === '' || (isAddressRange(value) && !value.includes('/')),
        'empty or an address such as 203.0.113.7',
      ),
    defaultText: '',
    unit: 'address',
    meaning,
  };
}

/** ARI_URL. */
export function ariUrl(meaning: string): SettingSpec<string> {
  return {
    schema: z
      .string()
      .refine(isServiceUrl, 'empty or an http or https URL such as http://127.0.0.1:8088/ari')
      .transform((value) => value.replace(/(?<!\/)\/+$/, '')),
    defaultText: '',
    unit: 'http or https URL',
    meaning,
  };
}

/** ARI_APP. */
export function ariApp(meaning: string): SettingSpec<string> {
  return {
    schema: z.string().regex(/^[A-Za-z0-9_]{1,32}$/, '1 to 32 letters, digits and _'),
    defaultText: 'trunkline',
    unit: 'name',
    meaning,
  };
}

/** ASTERISK_MEDIA_URL. */
export function asteriskMediaUrl(meaning: string): SettingSpec<string> {
  return {
    schema: z
      .string()
      .refine(
        (value) => value === '' || isSocketUrl(value),
        'empty or a WebSocket URL such as ws://127.0.0.1:8088/media',
      )
      .transform((value) => value.replace(/(?<!\/)\/+$/, '')),
    defaultText: '',
    unit: 'ws or wss URL',
    meaning,
  };
}

/** RECORD_KEY: a key has 44 or 64 characters; a passphrase shorter than this is guessed. */
const PASSPHRASE_MIN_CHARS = 12;

/** RECORD_KEY. */
export function recordKey(meaning: string): SettingSpec<string> {
  return {
    schema: z
      .string()
      .refine(
        (value) => value === '' || value.length >= PASSPHRASE_MIN_CHARS,
        `empty, 32 bytes as hex or base64 (openssl rand -base64 32), or a passphrase of ${PASSPHRASE_MIN_CHARS} ` +
          'characters or more',
      ),
    defaultText: '',
    unit: 'key or passphrase',
    meaning,
    secret: true,
  };
}

/** RECORD_PAUSE_KEY. */
export function recordPauseKey(meaning: string): SettingSpec<string> {
  return {
    schema: z.string().regex(/^[0-9*#A-D]{0,8}$/, 'empty, or up to 8 keys of 0-9, *, # and A-D, such as *9'),
    defaultText: '',
    unit: 'keys',
    meaning,
  };
}

/** CALL_WEBHOOK_URL, as it is written. */
export function webhookUrl(meaning: string): SettingSpec<string> {
  return {
    schema: z.string().refine(isServiceUrl, 'empty or an http or https URL such as https://crm.example.com/calls'),
    defaultText: '',
    unit: 'http or https URL',
    meaning,
  };
}

/** OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, as it is written. */
export function tracesUrl(meaning: string): SettingSpec<string> {
  return {
    schema: z.string().refine(isServiceUrl, 'empty or an http or https URL such as http://127.0.0.1:4318/v1/traces'),
    defaultText: '',
    unit: 'http or https URL',
    meaning,
  };
}

/** The types of the feed's events that are stored: docs/reference/events.md. */
const STORED_EVENTS = (
  'call.started call.state call.transferred call.assigned call.updated call.ended call.resumed caption revision ' +
  'spoken dtmf language gap lag.started lag.ended ' +
  'app.lost app.back app.muted app.unmuted flow.started flow.step flow.input flow.message flow.ended note ' +
  'mark hint recording'
).split(' ');

/** CALL_WEBHOOK_EVENTS. */
export function storedEvents(meaning: string): SettingSpec<readonly string[]> {
  return {
    schema: z
      .string()
      .transform(splitList)
      .refine(
        (list) => list.length > 0 && list.every((type) => STORED_EVENTS.includes(type)),
        `events among ${STORED_EVENTS.join(', ')}`,
      ),
    defaultText: 'call.ended',
    unit: 'events, comma-separated',
    meaning,
  };
}
