/** SIP messages as a phone reads and writes them (RFC 3261 §7), and its answer to a challenge (RFC 7616). */
import { createHash, randomBytes } from 'node:crypto';

/** One message. Headers in their order, by their full names. */
export interface SipMessage {
  /** `INVITE sip:… SIP/2.0` or `SIP/2.0 200 OK`. */
  readonly start: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

const COMPACT: Readonly<Record<string, string>> = {
  v: 'Via',
  f: 'From',
  t: 'To',
  i: 'Call-ID',
  m: 'Contact',
  l: 'Content-Length',
  c: 'Content-Type',
  k: 'Supported',
  s: 'Subject',
};

/** Reads a datagram. Null for what is no message, such as the line ends that keep a NAT open. */
export function readMessage(text: string): SipMessage | null {
  const end = text.indexOf('\r\n\r\n');
  const [start = '', ...lines] = text
    .slice(0, end < 0 ? text.length : end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  if (!/^(SIP\/2\.0 \d{3}|[A-Z]+ \S+ SIP\/2\.0$)/.test(start)) return null;
  const headers = lines.flatMap((line): [string, string][] => {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim();
    return colon < 0 ? [] : [[COMPACT[name.toLowerCase()] ?? name, line.slice(colon + 1).trim()]];
  });
  return { start, headers, body: end < 0 ? '' : text.slice(end + 4) };
}

/** Writes a message; the length of its body comes last. */
export function writeMessage({ start, headers, body }: SipMessage): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [start, ...lines, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');
}

/** All values of a header, in order. */
export function headersOf(message: SipMessage, name: string): string[] {
  return message.headers.filter(([each]) => each.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/** The first value of a header; '' = there is none. */
export function headerOf(message: SipMessage, name: string): string {
  return headersOf(message, name)[0] ?? '';
}

/** The status of a response; null for a request. */
export function statusOf({ start }: SipMessage): number | null {
  const [, status] = /^SIP\/2\.0 (\d{3})/.exec(start) ?? [];
  return status === undefined ? null : Number(status);
}

/** What a response says beside its status: `Service Unavailable`; '' = nothing. */
export function reasonPhraseOf({ start }: SipMessage): string {
  return start
    .replace(/^SIP\/2\.0 \d{3} ?/, '')
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
}

/** `INVITE`, `BYE` …, of a request or of what a response is about. */
export function methodOf(message: SipMessage): string {
  return headerOf(message, 'CSeq').split(/\s+/)[1] ?? '';
}

/** `branch` of the topmost Via: the transaction's name. */
export function branchOf(message: SipMessage): string {
  return /;\s*branch=([^;,\s]+)/i.exec(headerOf(message, 'Via'))?.[1] ?? '';
}

/** The tag of a From or To; '' = none. */
export function tagOf(value: string): string {
  return /;\s*tag=([^;,\s]+)/i.exec(value)?.[1] ?? '';
}

/** The address in a Contact, From or To, without brackets and what is behind them. */
export function uriOf(value: string): string {
  return /<([^<>]*)>/.exec(value)?.[1] ?? value.split(';')[0]?.trim() ?? '';
}

/** A new tag, branch or Call-ID. */
export function newToken(): string {
  return randomBytes(9).toString('hex');
}

/** Who answers a challenge, to which request. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
  readonly method: string;
  readonly uri: string;
}

/** The value of Authorization or Proxy-Authorization for a `Digest` challenge with MD5, with or without `qop=auth`. */
export function answerChallenge(challenge: string, { user, password, method, uri }: Credentials): string {
  const part = (name: string): string =>
    new RegExp(`\\b${name}=(?:"([^"]*)"|([^,\\s]+))`, 'i').exec(challenge)?.slice(1).join('') ?? '';
  const [realm, nonce] = [part('realm'), part('nonce')];
  const first = md5(`${user}:${realm}:${password}`);
  const second = md5(`${method}:${uri}`);
  const named = `username="${user}", realm="${realm}", nonce="${nonce}", uri="${uri}", algorithm=MD5`;
  if (!part('qop').split(',').includes('auth'))
    return `Digest ${named}, response="${md5(`${first}:${nonce}:${second}`)}"`;
  const count = '00000001';
  const own = newToken();
  const response = md5(`${first}:${nonce}:${count}:${own}:auth:${second}`);
  return `Digest ${named}, qop=auth, nc=${count}, cnonce="${own}", response="${response}"`;
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
