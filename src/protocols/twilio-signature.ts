/**
 * X-Twilio-Signature (https://www.twilio.com/docs/usage/webhooks/webhooks-security): base64 of HMAC-SHA1, keyed with
 * the account's primary auth token, over the URL and the form fields. Twilio signs the URL as it was configured, which
 * a server behind a proxy can only guess. So we try every spelling that Twilio's own helper library tries, and for
 * WebSockets some more that the library misses.
 */
import { createHash, createHmac } from 'node:crypto';
import * as querystring from 'node:querystring';
import { isSameSecret } from '../foundation/timing-safe.ts';

/** Decoded form fields in any order; URLSearchParams is one. */
export type FormFields = Iterable<readonly [name: string, value: string]>;

const NO_FIELDS: FormFields = [];
/**
 * Scheme, user info, host (IPv6 in brackets), port, rest. The rest stays as Twilio wrote it; `new URL()` would change
 * it.
 */
const URL_PARTS = /^([a-z][a-z0-9+.-]*:\/\/)((?:[^/?#]*@)?)(\[[^\]/?#]*\]|[^:/?#[\]]*)((?::[^/?#]*)?)(.*)/is;

/** The fields as they are signed: names in code-unit order, each with its distinct values in order. */
function signedFields(fields: FormFields): string {
  const byName = new Map<string, Set<string>>();
  for (const [name, value] of fields) {
    const values = byName.get(name);
    if (values === undefined) byName.set(name, new Set([value]));
    else values.add(value);
  }
  const names = [...byName.keys()].sort();
  return names
    .map((name) =>
      [...(byName.get(name) ?? [])]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('');
}

/** The signature that Twilio would send for a request to `url` (as configured, with its query) with `fields`. */
export function signTwilio(authToken: string, url: string, fields: FormFields = NO_FIELDS): string {
  return createHmac('sha1', authToken)
    .update(url + signedFields(fields), 'utf8')
    .digest('base64');
}

/** The URL without a port, and with its port or a default. Twilio's helper uses 80 for every scheme except https. */
function portSpellings(url: string): string[] {
  const parts = URL_PARTS.exec(url);
  if (parts === null) return [url];
  const [, scheme = '', user = '', host = '', port = '', rest = ''] = parts;
  const ports = port === '' ? (scheme.toLowerCase() === 'https://' ? [':443'] : [':443', ':80']) : [port];
  return ['', ...ports].map((spelling) => scheme + user + host + spelling + rest);
}

function requoted(url: string): string {
  const query = url.indexOf('?');
  return query === -1 || query === url.length - 1
    ? url
    : `${url.slice(0, query)}?${querystring.stringify(querystring.parse(url.slice(query + 1)))}`;
}

function spellings(url: string): Set<string> {
  const normal = URL.canParse(url) ? portSpellings(new URL(url).toString()) : [];
  return new Set([...portSpellings(url), ...normal, ...normal.map(requoted)]);
}

function isSigned(authToken: string, signature: string | undefined, url: string, fields: FormFields): boolean {
  if (authToken === '' || signature === undefined) return false;
  return [...spellings(url)].some((spelling) => isSameSecret(signature, signTwilio(authToken, spelling, fields)));
}

/**
 * The data to check. `url` consists of scheme, public host, and the raw path and query of the request line; `signature`
 * is the header's value.
 */
interface SignedRequest {
  readonly authToken: string;
  readonly signature: string | undefined;
  readonly url: string;
}

/**
 * Whether Twilio sent this HTTP request. `body` is the raw body ('' for GET): a form, or any data whose SHA-256 the
 * query gives as `bodySHA256`. False for an empty token.
 */
export function isTwilioWebhook({
  authToken,
  signature,
  url,
  body,
}: SignedRequest & { readonly body: string }): boolean {
  const hash = /[?&]bodySHA256=([^&#]*)/.exec(url)?.[1];
  if (hash === undefined) return isSigned(authToken, signature, url, new URLSearchParams(body));
  return (
    isSigned(authToken, signature, url, NO_FIELDS) &&
    isSameSecret(hash, createHash('sha256').update(body, 'utf8').digest('hex'))
  );
}

/**
 * Whether Twilio sent this WebSocket handshake. `url` begins with wss://. Twilio may have signed an empty path with or
 * without its slash, and a query within the URL or as fields (its helpers for Node and Python differ).
 */
export function isTwilioHandshake({ authToken, signature, url }: SignedRequest): boolean {
  const [bare = url, query] = url.split(/\?(.*)/s, 2);
  const hasPath = /^[a-z]+:\/\/[^/]+\/./i.test(bare);
  const bares = hasPath ? [bare] : [bare.replace(/\/$/, ''), bare.replace(/\/?$/, '/')];
  return bares.some((candidate) => {
    if (query === undefined) return isSigned(authToken, signature, candidate, NO_FIELDS);
    return (
      isSigned(authToken, signature, `${candidate}?${query}`, NO_FIELDS) ||
      isSigned(authToken, signature, candidate, new URLSearchParams(query))
    );
  });
}
