/**
 * The signature of an AudioHook handshake: HTTP Message Signatures (RFC 9421) with HMAC-SHA256, as
 * https://developer.genesys.cloud/devapps/audiohook/security describes them.
 */
import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../../foundation/timing-safe.ts';

/** What the signature must cover, so that none of it can be exchanged. */
const REQUIRED = [
  '@request-target',
  '@authority',
  'audiohook-organization-id',
  'audiohook-session-id',
  'audiohook-correlation-id',
  'x-api-key',
];
/** How far the clocks of the two sides may be apart. */
const CLOCK_SKEW_S = 3;
/** How old a signature may be. */
const AGE_MAX_S = 10;
const NONCE_CHARS_MIN = 22;
const FIELD_CHARS_MAX = 4096;

/** One signature of one label: components in their order, then parameters. */
const SIGNATURE_INPUT =
  /^\s*([a-z*][\w.*-]*)=(\(((?:"[\w@-]{1,64}" ?){1,32})\)((?:;[a-z]{1,16}=(?:"[^"\\]{0,256}"|\d{1,12}))*))\s*$/;
const SIGNATURE = /^\s*([a-z*][\w.*-]*)=:([A-Za-z0-9+/]{1,128}={0,2}):\s*$/;
const PARAMETER = /;([a-z]+)=(?:"([^"]*)"|(\d+))/g;
const COMPONENT = /"([\w@-]+)"/g;

/** A handshake and what it is checked against. */
export interface AudioHookHandshake {
  /** Path and query, as they came. */
  readonly target: string;
  /** Header fields by their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly apiKey: string;
  /** The client secret, in base64 as Genesys shows it. */
  readonly clientSecret: string;
  /** Seconds since 1970. */
  readonly nowS: number;
}

/** `refused` says what is wrong; it repeats nothing that came. `nonce` may be used once. */
export type SignatureCheck = { readonly nonce: string } | { readonly refused: string };

/** Whether whoever knows the client secret sent this handshake, a moment ago. */
export function checkAudioHookSignature(handshake: AudioHookHandshake): SignatureCheck {
  const input = SIGNATURE_INPUT.exec(fieldOf(handshake, 'signature-input'));
  const signature = SIGNATURE.exec(fieldOf(handshake, 'signature'));
  if (input === null || signature === null) return { refused: 'it has no signature that can be read' };
  const [, label, signed = '', components = '', parameters = ''] = input;
  if (label !== signature[1]) return { refused: 'signature and signature-input have different labels' };
  const names = [...components.matchAll(COMPONENT)].map(([, name = '']) => name);
  const missing = REQUIRED.find((name) => !names.includes(name));
  if (missing !== undefined) return { refused: `the signature does not cover ${missing}` };
  const given = readParameters(parameters);
  const refused = refuseParameters(given, handshake);
  if (refused !== null) return { refused };
  const lines = names.map((name) => `"${name}": ${componentOf(handshake, name)}`);
  const base = [...lines, `"@signature-params": ${signed}`].join('\n');
  const key = Buffer.from(handshake.clientSecret, 'base64');
  const expected = createHmac('sha256', key).update(base).digest('base64');
  if (!isSameSecret(signature[2] ?? '', expected)) return { refused: 'the signature does not fit' };
  return { nonce: given.get('nonce') ?? '' };
}

function refuseParameters(given: ReadonlyMap<string, string>, { apiKey, nowS }: AudioHookHandshake): string | null {
  const created = Number(given.get('created'));
  const expires = given.get('expires');
  if ((given.get('alg') ?? 'hmac-sha256') !== 'hmac-sha256') return 'the signature is not of hmac-sha256';
  if (given.get('keyid') !== apiKey) return 'the signature is of another key';
  if ((given.get('nonce') ?? '').length < NONCE_CHARS_MIN) return 'the nonce of the signature is too short';
  if (!(created <= nowS + CLOCK_SKEW_S)) return 'the signature is not of now: are both clocks right?';
  const isExpired = expires !== undefined && Number(expires) + CLOCK_SKEW_S < nowS;
  if (isExpired || created + AGE_MAX_S + CLOCK_SKEW_S < nowS) return 'the signature is too old: are both clocks right?';
  return null;
}

/** The last one of a name counts (RFC 8941 §3.1.2). */
function readParameters(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(PARAMETER)].map(([, name = '', word, number]) => [name, word ?? number ?? '']));
}

function componentOf(handshake: AudioHookHandshake, name: string): string {
  if (name === '@request-target') return handshake.target;
  if (name === '@authority')
    return fieldOf(handshake, 'host')
      .toLowerCase()
      .replace(/:(?:80|443)$/, '');
  return fieldOf(handshake, name);
}

function fieldOf({ headers }: Pick<AudioHookHandshake, 'headers'>, name: string): string {
  // The client names the fields; those of every object are none.
  const value = [(Object.hasOwn(headers, name) ? headers[name] : null) ?? '']
    .flat()
    .map((each) => each.trim())
    .join(', ');
  return value.slice(0, FIELD_CHARS_MAX);
}
