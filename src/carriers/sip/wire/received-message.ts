/**
 * SIP messages from the network (RFC 3261): read strictly, and made safe for the stack that interprets them.
 */
import { SipFault } from './fault.ts';
import { type Header, isPlainLine, SIP_MESSAGE_MAX_BYTES, splitHeader, unfoldSip } from './headers.ts';
import { checkInterpreted } from './parsing-cost.ts';
import { openBody } from './received-body.ts';
import { userOf } from './uris.ts';
import { noteSource, readVia, type SipSource, tagIn, transactionOf, viasIn } from './via.ts';

const HEADERS_MAX = 128;
const NAME_MAX_CHARS = 256;
/** More proxies than a request may pass: Max-Forwards is 70 where it begins. */
const VIAS_MAX = 128;
const SEQUENCE_MAX = 2 ** 31 - 1;

/** A message that came, with what must be known of it before it is interpreted. */
export interface ReceivedSip {
  readonly kind: 'request' | 'response';
  /** Of the request, or that is answered. */
  readonly method: string;
  /** Null in a request. */
  readonly statusCode: number | null;
  /** `branch` of the topmost Via; '' = it has none, as in RFC 2543. */
  readonly branch: string;
  /**
   * Names the transaction: of a request by all of RFC 3261 §17.2.3, of an answer to us by the branch, which is ours.
   */
  readonly transaction: string;
  /** Of the Request-URI, in lower case; null = a response. */
  readonly scheme: string | null;
  /** Whom the Request-URI names; null = nobody, or a response. */
  readonly user: string | null;
  /** The Request-URI as it came; null = a response. */
  readonly uri: string | null;
  /** Values of Refer-To. The stack's grammar knows no `tel:` there, and of two headers it would take one. */
  readonly referTo: readonly string[];
  /** Metadata of a recorded call (RFC 7865) in the body; null = none. */
  readonly metadata: string | null;
  /** The sender's program, as it says; '' = it does not. */
  readonly userAgent: string;
  /**
   * The message again, with one Via a line, its source noted in the topmost, a Request-URI that is ours, and of a body
   * of several parts the session description alone; without Refer-To.
   */
  readonly text: string;
}

interface SipParts {
  readonly startLine: string;
  readonly headers: readonly Header[];
  readonly body: string;
}

/**
 * Reads one message (of a datagram, or framed by `SipFramer`). `ownUri` takes the place of the Request-URI, which may
 * be of any kind.
 * @throws SipFault
 */
export function receiveSip(text: string, source: SipSource, ownUri: string): ReceivedSip {
  const whole = splitMessage(text);
  const start = readStart(whole.startLine);
  const { sequence, method: sequenceMethod } = readSequence(only(whole, 'cseq'));
  if (start.kind === 'request' && start.method !== sequenceMethod)
    throw new SipFault('a CSeq of another method', 'that of the request');
  checkNames(whole);
  checkInterpreted(whole.headers);
  const referTo = whole.headers.flatMap(([name, value]) => (name === 'refer-to' ? [value] : []));
  const { metadata, ...parts } = withoutTarget(openParts(whole, sequenceMethod));
  const vias = viasIn(parts.headers);
  if (vias.length > VIAS_MAX) throw new SipFault(`${vias.length} values of Via`, `at most ${VIAS_MAX}`, 513);
  const top = readVia(vias[0] ?? '');
  const userAgent = first(parts, 'user-agent') ?? '';
  const known = { method: sequenceMethod, branch: top.branch, userAgent, referTo, metadata };
  if (start.kind === 'response') {
    const safe = join(`SIP/2.0 ${start.statusCode} ${start.reason}`, vias, parts, source.address);
    return {
      ...known,
      kind: 'response',
      transaction: top.branch,
      statusCode: start.statusCode,
      scheme: null,
      user: null,
      uri: null,
      text: safe,
    };
  }
  const fromTag = tagIn(only(parts, 'from'));
  const transaction = transactionOf(top, { method: start.method, callId: only(parts, 'call-id'), fromTag, sequence });
  const safe = join(
    `${start.method} ${ownUri} SIP/2.0`,
    [noteSource(top, source), ...vias.slice(1)],
    parts,
    source.address,
  );
  return {
    ...known,
    kind: 'request',
    transaction,
    statusCode: null,
    scheme: start.scheme,
    user: userOf(start.uri),
    uri: start.uri,
    text: safe,
  };
}

type StartLine =
  | { readonly kind: 'request'; readonly method: string; readonly uri: string; readonly scheme: string }
  | { readonly kind: 'response'; readonly statusCode: number; readonly reason: string };

/** RFC 3261 §7.1 and §7.2: methods are case-sensitive, the version is not. */
function readStart(line: string): StartLine {
  const [, status, reason = ''] = /^SIP\/2\.0 ([1-6]\d\d)(?: (.*))?$/i.exec(line) ?? [];
  if (status !== undefined) return { kind: 'response', statusCode: Number(status), reason };
  const [, method, uri, version] = /^([\w!%'*+.`~-]{1,64}) ([^\s<>"]+) SIP\/(\d{1,3}\.\d{1,3})$/i.exec(line) ?? [];
  if (method === undefined || uri === undefined)
    throw new SipFault('a first line that cannot be read', 'METHOD sip:user@host SIP/2.0');
  if (version !== '2.0') throw new SipFault('another version', 'SIP/2.0', 505);
  const [, scheme] = /^([a-z][a-z\d+.-]*):./i.exec(uri) ?? [];
  if (scheme === undefined) throw new SipFault('a Request-URI that cannot be read', 'sip:user@host');
  // In the user a question mark is one (RFC 3261 §19.1.1).
  if (/^sips?:/i.test(uri) && uri.replace(/^[^@]*@/, '').includes('?'))
    throw new SipFault('headers in the Request-URI', 'none');
  return { kind: 'request', method, uri, scheme: scheme.toLowerCase() };
}

function readSequence(value: string): { readonly sequence: number; readonly method: string } {
  const [, sequence, method] = /^(\d{1,10})\s+([\w!%'*+.`~-]{1,64})$/.exec(value) ?? [];
  if (method !== undefined && Number(sequence) <= SEQUENCE_MAX) return { sequence: Number(sequence), method };
  throw new SipFault('a CSeq that cannot be read', `a number up to ${SEQUENCE_MAX} and a method`);
}

function splitMessage(text: string): SipParts {
  if (text.length > SIP_MESSAGE_MAX_BYTES)
    throw new SipFault(`${text.length} bytes`, `at most ${SIP_MESSAGE_MAX_BYTES}`, 513);
  const message = text.replace(/^(?:\r\n)+/, '');
  const end = message.indexOf('\r\n\r\n');
  if (end < 0) throw new SipFault('no empty line', 'one behind the headers');
  const [startLine = '', ...lines] = unfoldSip(message);
  if (lines.length > HEADERS_MAX) throw new SipFault(`${lines.length} headers`, `at most ${HEADERS_MAX}`, 513);
  if (![startLine, ...lines].every(isPlainLine)) throw new SipFault('a bare line end', 'CR and LF together');
  const parts = { startLine, headers: lines.map(readHeader), body: message.slice(end + 4) };
  if (first(parts, 'content-length') === null) return parts;
  const length = only(parts, 'content-length');
  if (!/^\d{1,10}$/.test(length)) throw new SipFault('a Content-Length that cannot be read', 'a number of bytes');
  if (Number(length) > parts.body.length) throw new SipFault('a Content-Length beyond the end', 'that of the body');
  return { ...parts, body: parts.body.slice(0, Number(length)) };
}

/** A message without the body parts that the stack would not know what to do with. */
function openParts(parts: SipParts, method: string): SipParts & { readonly metadata: string | null } {
  const { contentType, content, metadata } = openBody(method, first(parts, 'content-type') ?? '', parts.body);
  if (content === parts.body) return { ...parts, metadata };
  const headers = parts.headers.filter(([name]) => name !== 'content-type' && name !== 'content-disposition');
  if (content !== '') headers.push(['content-type', contentType]);
  return { startLine: parts.startLine, headers, body: content, metadata };
}

function withoutTarget<T extends SipParts>(parts: T): T {
  return { ...parts, headers: parts.headers.filter(([name]) => name !== 'refer-to') };
}

function readHeader(line: string): Header {
  const header = splitHeader(line);
  if (header === null) throw new SipFault('a line that is no header', 'name: value');
  return header;
}

function first({ headers }: SipParts, name: string): string | null {
  return headers.find(([own]) => own === name)?.[1] ?? null;
}

function only(parts: SipParts, name: string): string {
  const values = parts.headers.filter(([own]) => own === name);
  const [[, value] = []] = values;
  if (values.length === 1 && value !== undefined && value !== '') return value;
  throw new SipFault(values.length > 1 ? `${values.length} headers ${name}` : `no header ${name}`, 'one');
}

/** What names the dialog, and the body. */
function checkNames(parts: SipParts): void {
  if (only(parts, 'call-id').length > NAME_MAX_CHARS)
    throw new SipFault('a longer Call-ID', `at most ${NAME_MAX_CHARS} characters`);
  if (tagIn(only(parts, 'from')) === '') throw new SipFault('a From without a tag', 'one with');
  only(parts, 'to');
  if (parts.body !== '') only(parts, 'content-type');
}

function join(startLine: string, vias: readonly string[], { headers, body }: SipParts, host: string): string {
  const lines = [startLine, ...vias.map((via) => `Via: ${via}`)];
  for (const [name, value] of headers) {
    if (name === 'via' || name === 'content-length') continue;
    lines.push(`${name}: ${plainValue(name, value, host)}`);
  }
  return `${[...lines, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
}

/** A header's value as the stack knows it. */
function plainValue(name: string, value: string, host: string): string {
  if (name === 'from' || name === 'to' || name === 'contact') return plainUri(value, host);
  return name === 'content-type' ? value.replace(/^[^;]*/, (type) => type.toLowerCase()) : value;
}

/** Bounded, or a value of nothing but schemes would be read once for each of them. */
const URI_USER = /(sips?:)([^@;>\s]{1,256})@/gi;

/**
 * An address that the stack's grammar knows: a telephone number as a SIP user (RFC 3261 §19.1.6), `#` in a user as
 * phones write it.
 */
function plainUri(value: string, host: string): string {
  const isBare = !value.includes('<');
  const bracketed = host.includes(':') ? `[${host}]` : host;
  const asSip = isBare
    ? value.replace(/^tel:([^;,\s]+)/i, `<sip:$1@${bracketed}>`)
    : value.replace(/<tel:([^;<>\s]+)(?:[;\s][^<>]*)?>/i, `<sip:$1@${bracketed}>`);
  return asSip.replace(URI_USER, (_, scheme: string, user: string) => `${scheme}${user.replaceAll('#', '%23')}@`);
}
