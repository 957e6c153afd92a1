/** SIP and telephone URIs (RFC 3261 §19.1, RFC 3966): the user, the host, and the name that stands before them. */
import { SIP_DEFAULT_PORT, SIPS_DEFAULT_PORT } from './via.ts';

/** Where a message of ours goes. */
export interface SipDestination {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** The name that `host` was resolved from: over TLS the other side must prove it; left out = there was none. */
  readonly name?: string;
}

/** The host of a SIP URI; null when it has none. */
export function hostOf(uri: string): SipDestination | null {
  const [, bracketed, name, port] = /^sips?:(?:[^@]*@)?(?:\[([^\]]+)\]|([^:;?>\s]+))(?::(\d{1,5}))?/i.exec(uri) ?? [];
  const host = bracketed ?? name;
  const defaultPort = isTlsUri(uri) ? SIPS_DEFAULT_PORT : SIP_DEFAULT_PORT;
  return host === undefined ? null : { host, port: Number(port ?? defaultPort) };
}

/** Whether a SIP URI is reached over TLS: `sips:`, or `transport=tls` (RFC 3261 §26.2.2). */
export function isTlsUri(uri: string): boolean {
  return /^sips:/i.test(uri) || /;transport=tls(?:[;?>]|$)/i.test(uri);
}

/**
 * The user or telephone number in a URI, or in a header's name and address: `"A"
 * <sip:+14155550100;phone-context=x@host>`. Null = none.
 */
export function userOf(address: string): string | null {
  const uri = /<([^<>]*)>/.exec(address)?.[1] ?? address;
  const [, number] = /^tel:([^;,\s]+)/i.exec(uri) ?? [];
  const [, user] = /^sips?:([^@]*)@/i.exec(uri) ?? [];
  const escaped = number ?? user?.split(/[;:]/)[0] ?? '';
  return unescapeUri(escaped) || null;
}

/**
 * The name before the address in a header such as From (RFC 3261 §20.20): `"A \\"B\\"" <sip:x@host>` → `A "B"`. Null =
 * none.
 */
export function displayNameOf(header: string): string | null {
  const text = header.trimStart();
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  const name = quoted === undefined ? text.slice(0, Math.max(0, text.indexOf('<'))) : quoted.replace(/\\(.)/g, '$1');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return name.replace(/[\u0000-\u001f\u007f]/g, '').trim() || null;
}

/** Control characters stay escaped: some of those who read a caller's name end it there. */
function unescapeUri(text: string): string {
  try {
    const plain = decodeURIComponent(text);
    return /\p{Cc}/u.test(plain) ? text : plain;
  } catch {
    return text;
  }
}
