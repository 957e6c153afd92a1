/**
 * X-Plivo-Signature-V3 (https://www.plivo.com/docs/voice/concepts/signature-validation): base64 of HMAC-SHA256, keyed
 * with the account's auth token, over the URL and a nonce. A handshake is a GET, so the fields of its query are signed,
 * sorted by name and value.
 */
import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../../foundation/timing-safe.ts';

/** The data to check: `url` as it was configured at Plivo, with any scheme; signature and nonce are headers. */
interface SignedHandshake {
  readonly authToken: string;
  /** X-Plivo-Signature-V3: one or more signatures separated by commas, one for each token of the account. */
  readonly signature: string | undefined;
  /** X-Plivo-Signature-V3-Nonce */
  readonly nonce: string | undefined;
  readonly url: string;
}

/** The signature that Plivo sends with a GET of `url`. */
export function signPlivo(authToken: string, url: string, nonce: string): string {
  return createHmac('sha256', authToken)
    .update(`${withSortedQuery(url)}.${nonce}`, 'utf8')
    .digest('base64');
}

/**
 * Whether Plivo sent this WebSocket handshake. Plivo's helper library signs a `wss` address as `https`; we also accept
 * other schemes. False for an empty token.
 */
export function isPlivoHandshake({ authToken, signature, nonce, url }: SignedHandshake): boolean {
  if (authToken === '' || signature === undefined || nonce === undefined) return false;
  const spellings = ['https', 'wss', 'http', 'ws'].map((scheme) => url.replace(/^[a-z]+(?=:\/\/)/i, scheme));
  const expected = spellings.map((spelling) => signPlivo(authToken, spelling, nonce));
  return signature.split(',').some((given) => expected.some((each) => isSameSecret(given.trim(), each)));
}

function withSortedQuery(url: string): string {
  const [base = '', query = ''] = url.split(/\?(.*)/s, 2);
  const pairs = [...new URLSearchParams(query)].sort(byNameThenValue).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? base : `${base}?${pairs.join('&')}`;
}

function byNameThenValue([nameA, valueA]: [string, string], [nameB, valueB]: [string, string]): number {
  if (nameA !== nameB) return nameA < nameB ? -1 : 1;
  if (valueA === valueB) return 0;
  return valueA < valueB ? -1 : 1;
}
