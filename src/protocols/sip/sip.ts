/**
 * SIP messages as text (RFC 3261): read strictly, made safe for the stack that interprets them, and asked where they
 * go. Characters are bytes (latin1), so that lengths are right and what is echoed is echoed exactly.
 */
import { SipFault } from './fault.ts';
import { checkInterpreted, weighSip } from './parsing-cost.ts';
import {
  glanceVia,
  noteSource,
  readVia,
  SIP_DEFAULT_PORT,
  type SipSource,
  tagIn,
  transactionOf,
  viasIn,
} from './via.ts';

/** Larger than any INVITE with a browser's offer. */
export const SIP_MESSAGE_MAX_BYTES = 32_768;
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
  /** The sender's program, as it says; '' = it does not. */
  readonly userAgent: string;
  /** The message again, with one Via a line, its source noted in the topmost, and a Request-URI that is ours. */
  readonly text: string;
}

type Header = readonly [name: string, value: string];

interface SipParts {
  readonly startLine: string;
  readonly headers: readonly Header[];
  readonly body: string;
}

/** RFC 3261 §7.3.3 and those that later RFCs added; in lower case as all names here. */
const LONG_NAMES: Readonly<Record<string, string>> = {
  ...{
    v: 'via',
    f: 'from',
    t: 'to',
    i: 'call-id',
    m: 'contact',
    l: 'content-length',
    c: 'content-type',
    s: 'subject',
    k: 'supported',
  },
  ...{ e: 'content-encoding', r: 'refer-to', o: 'event', u: 'allow-events', x: 'session-expires', b: 'referred-by' },
};

/** Programs that look for open servers. */
const SCANNERS =
  /\b(?:friendly-scanner|sipvicious|sipcli|sip-?scan|sundayddr|iwar|vaxsipuseragent|pplsip|siparmyknife|masscan)\b/i;

/** Whether a program of this name looks for servers to abuse. */
export function isScanner(userAgent: string): boolean {
  return SCANNERS.test(userAgent);
}

/**
 * Reads one message (of a datagram, or framed by `SipFramer`). `ownUri` takes the place of the Request-URI, which may
 * be of any kind.
 * @throws SipFault
 */
export function receiveSip(text: string, source: SipSource, ownUri: string): ReceivedSip {
  const parts = splitMessage(text);
  const start = readStart(parts.startLine);
  const { sequence, method: sequenceMethod } = readSequence(only(parts, 'cseq'));
  if (start.kind === 'request' && start.method !== sequenceMethod)
    throw new SipFault('a CSeq of another method', 'that of the request');
  checkNames(parts);
  checkInterpreted(parts.headers);
  const vias = viasIn(parts.headers);
  if (vias.length > VIAS_MAX) throw new SipFault(`${vias.length} values of Via`, `at most ${VIAS_MAX}`, 513);
  const top = readVia(vias[0] ?? '');
  const known = { method: sequenceMethod, branch: top.branch, userAgent: first(parts, 'user-agent') ?? '' };
  if (start.kind === 'response') {
    const safe = join(`SIP/2.0 ${start.statusCode} ${start.reason}`, vias, parts, source.address);
    return {
      ...known,
      kind: 'response',
      transaction: top.branch,
      statusCode: start.statusCode,
      scheme: null,
      user: null,
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

/**
 * The lines of a message before its empty one, if that is there: first line and headers, each folded one in one piece.
 * What ends lines before it is skipped.
 */
export function unfoldSip(message: string): string[] {
  const [head = ''] = message.replace(/^(?:\r\n)+/, '').split('\r\n\r\n', 1);
  return head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
}

/**
 * Whether nothing in a line ends it elsewhere and smuggles headers into what is echoed. A NUL may stand in a quoted
 * name behind a backslash.
 */
export function isPlainLine(line: string): boolean {
  return !/[\r\n]|(?<!\\)\0/.test(line);
}

/** One header, its name as {@link ReceivedSip} has it: long and in lower case. Null when the line is none. */
export function splitHeader(line: string): readonly [name: string, value: string] | null {
  const [, name, value] = /^([\w!%'*+.`~-]{1,256})[ \t]*:[ \t]*(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) return null;
  const lower = name.toLowerCase();
  return [lower.length === 1 ? (LONG_NAMES[lower] ?? lower) : lower, value.trim()];
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
    : value.replace(/<tel:([^;<>\s]+)[^<>]*>/i, `<sip:$1@${bracketed}>`);
  return asSip.replace(URI_USER, (_, scheme: string, user: string) => `${scheme}${user.replaceAll('#', '%23')}@`);
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

/**
 * What it takes to interpret a message, told by a look at it: as many bytes as would take as long. The measure of who
 * may send how much.
 */
export function sipWeight(message: string): number {
  const headers = unfoldSip(message).flatMap((line) => {
    const header = splitHeader(line);
    return header === null ? [] : [header];
  });
  return weighSip(headers, message.length);
}

/** What a message says of its place, before anything of it is believed or read in full. */
export interface SipGlance {
  readonly kind: 'request' | 'response';
  readonly method: string;
  readonly branch: string;
  readonly callId: string;
  readonly fromTag: string;
  readonly toTag: string;
}

/** Names stand before this. */
const GLANCE_CHARS = 8192;

/** A look at a message that costs next to nothing, so that a flood can be told from calls. What is not there is ''. */
export function glanceSip(message: string): SipGlance {
  const text = message.slice(0, GLANCE_CHARS);
  return {
    kind: text.startsWith('SIP/2.0 ') ? 'response' : 'request',
    method: /^cseq[ \t]*:[ \t]*\d+[ \t]+(\w+)/im.exec(text)?.[1] ?? '',
    branch: /;[ \t]*branch[ \t]*=[ \t]*([^;,\s]+)/i.exec(text)?.[1] ?? '',
    callId: /^(?:call-id|i)[ \t]*:[ \t]*(\S+)/im.exec(text)?.[1] ?? '',
    fromTag: /^(?:from|f)[ \t]*:[^\r\n]*;[ \t]*tag[ \t]*=[ \t]*([^;\s]+)/im.exec(text)?.[1] ?? '',
    toTag: /^(?:to|t)[ \t]*:[^\r\n]*;[ \t]*tag[ \t]*=[ \t]*([^;\s]+)/im.exec(text)?.[1] ?? '',
  };
}

/** Headers without which an answer is still one (RFC 3261 §20, table 2), as our stack writes them. */
const SPARE_HEADERS = /^(?:allow|accept|supported|user-agent|content-length):.*\r\n/gim;
const SHORT_NAMES: Readonly<Record<string, string>> = { via: 'v', from: 'f', to: 't', 'call-id': 'i' };

/**
 * An answer of ours that has no body, in at most `maxBytes`: without what may be left out on UDP, with compact names
 * (RFC 3261 §7.3.3), with a shorter reason or none, as far as it must be. Null = it does not go.
 */
export function fitSip(answer: string, maxBytes: number): string | null {
  const lean = answer.replace(SPARE_HEADERS, '');
  const compact = lean.replace(
    /^(via|from|to|call-id): /gim,
    (_, name: string) => `${SHORT_NAMES[name.toLowerCase()]}:`,
  );
  const brief = compact.replace(/^(SIP\/2\.0 \d{3} [^:\r\n]*):[^\r\n]*/, '$1');
  const bare = brief.replace(/^(SIP\/2\.0 \d{3} )[^\r\n]*/, '$1');
  return [answer, lean, compact, brief, bare].find(({ length }) => length <= maxBytes) ?? null;
}

/** Where a message of ours goes. */
export interface SipDestination {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** What is known of a message of ours: where it goes, and its place in its transaction. */
export interface SentSip {
  readonly kind: 'request' | 'response';
  readonly method: string;
  readonly statusCode: number | null;
  /**
   * As {@link ReceivedSip} has it: a request of ours has that of its answers, an answer of ours that of its request.
   */
  readonly transaction: string;
  /** Null when the message does not say. */
  readonly destination: SipDestination | null;
}

/**
 * Reads a message that our own stack wrote. A request goes to its first Route or its Request-URI, a response back to
 * where the request came from.
 */
export function describeSip(text: string): SentSip {
  const head = text.slice(0, text.indexOf('\r\n\r\n'));
  const [, via = ''] = /^via: *(.*)$/im.exec(head) ?? [];
  const [, status] = /^SIP\/2\.0 (\d{3})/.exec(head) ?? [];
  if (status !== undefined) {
    const [, sequence, method = ''] = /^cseq: *(\d+) +(\S+)/im.exec(head) ?? [];
    const transaction = answeredTransaction(head, via, { sequence: Number(sequence), method });
    return { kind: 'response', method, statusCode: Number(status), transaction, destination: backAlong(via) };
  }
  const [, method = '', uri = ''] = /^(\w+) (\S+)/.exec(head) ?? [];
  const [, route] = /^route: *([^\r\n]*)/im.exec(head) ?? [];
  const target = route === undefined ? uri : (/<([^<>]*)>/.exec(route)?.[1] ?? route);
  return {
    kind: 'request',
    method,
    statusCode: null,
    transaction: glanceVia(via)?.branch ?? '',
    destination: hostOf(target),
  };
}

function answeredTransaction(
  head: string,
  via: string,
  { sequence, method }: { readonly sequence: number; readonly method: string },
): string {
  const callId = /^call-id: *(.*)$/im.exec(head)?.[1] ?? '';
  const fromTag = tagIn(/^from: *(.*)$/im.exec(head)?.[1] ?? '');
  const top = glanceVia(via);
  return top === null ? '' : transactionOf(top, { method, callId, fromTag, sequence });
}

/** RFC 3261 §18.2.2 and RFC 3581 §4. */
function backAlong(via: string): SipDestination | null {
  const address = /;received=([^;\s]+)/i.exec(via)?.[1];
  const port = /;rport=(\d+)/i.exec(via)?.[1] ?? /^\S+ +(?:\[[^\]]*\]|[^;:\s]+):(\d{1,5})/.exec(via)?.[1];
  return address === undefined ? null : { host: address, port: Number(port ?? SIP_DEFAULT_PORT) };
}

/** The host of a SIP URI; null when it has none. */
export function hostOf(uri: string): SipDestination | null {
  const [, bracketed, name, port] = /^sips?:(?:[^@]*@)?(?:\[([^\]]+)\]|([^:;?>\s]+))(?::(\d{1,5}))?/i.exec(uri) ?? [];
  const host = bracketed ?? name;
  return host === undefined ? null : { host, port: Number(port ?? SIP_DEFAULT_PORT) };
}
