/**
 * SIP messages as text (RFC 3261): read strictly, made safe for the stack that interprets them, and asked where they go. Characters are bytes
 * (latin1), so that lengths are right and what is echoed is echoed exactly.
 */
import { TrunklineError } from '../errors.ts';

/** Larger than any INVITE with a browser's offer. */
export const SIP_MESSAGE_MAX_BYTES = 32_768;
const HEADERS_MAX = 128;
const NAME_MAX_CHARS = 256;
const SIP_DEFAULT_PORT = 5060;

/** How a message came. */
export interface SipSource {
  readonly protocol: 'UDP' | 'TCP';
  readonly address: string;
  readonly port: number;
}

/** A message that came, with what must be known of it before it is interpreted. */
export interface ReceivedSip {
  readonly kind: 'request' | 'response';
  /** Of the request, or that is answered. */
  readonly method: string;
  /** Null in a request. */
  readonly statusCode: number | null;
  /** `branch` of the topmost Via: names the transaction. */
  readonly branch: string;
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
  ...{ v: 'via', f: 'from', t: 'to', i: 'call-id', m: 'contact', l: 'content-length', c: 'content-type', s: 'subject', k: 'supported' },
  ...{ e: 'content-encoding', r: 'refer-to', o: 'event', u: 'allow-events', x: 'session-expires', b: 'referred-by' },
};

/** Programs that look for open servers. */
const SCANNERS = /\b(?:friendly-scanner|sipvicious|sipcli|sip-?scan|sundayddr|iwar|vaxsipuseragent|pplsip|siparmyknife|masscan)\b/i;

/** A `message_malformed` that shows nothing of what came. */
function malformed(what: string, expected: string): TrunklineError {
  return new TrunklineError('message_malformed', `SIP: got ${what}, expected ${expected}`);
}

/** Whether a program of this name looks for servers to abuse. */
export function isScanner(userAgent: string): boolean {
  return SCANNERS.test(userAgent);
}

/**
 * Reads one message (of a datagram, or framed by {@link SipFramer}). `ownUri` takes the place of the Request-URI, which may be of any kind.
 * @throws TrunklineError `message_malformed`, `message_too_large`
 */
export function receiveSip(text: string, source: SipSource, ownUri: string): ReceivedSip {
  const parts = splitMessage(text);
  const [, sequence, sequenceMethod] = /^(\d{1,10})\s+([A-Z]{1,32})$/.exec(only(parts, 'cseq')) ?? [];
  if (sequenceMethod === undefined || Number(sequence) >= 2 ** 31) throw malformed('another CSeq', 'a number below 2^31 and a method');
  checkNames(parts);
  const vias = parts.headers.filter(([name]) => name === 'via').flatMap(([, value]) => splitList(value));
  const top = readVia(vias[0] ?? '');
  const known = { branch: top.branch, userAgent: first(parts, 'user-agent') ?? '' };
  const [, status] = /^SIP\/2\.0 ([1-6]\d\d)(?: |$)/.exec(parts.startLine) ?? [];
  if (status !== undefined) {
    const safe = join(parts.startLine, vias, parts, source.address);
    return { ...known, kind: 'response', method: sequenceMethod, statusCode: Number(status), user: null, text: safe };
  }
  const [, method, uri] = /^([A-Z]{1,32}) (\S+) SIP\/2\.0$/.exec(parts.startLine) ?? [];
  if (method === undefined || uri === undefined) throw malformed('another first line', 'a request or a response of SIP/2.0');
  if (method !== sequenceMethod) throw malformed('a CSeq of another method', 'that of the request');
  const safe = join(`${method} ${ownUri} SIP/2.0`, [noteSource(top, source), ...vias.slice(1)], parts, source.address);
  return { ...known, kind: 'request', method, statusCode: null, user: userOf(uri), text: safe };
}

function splitMessage(text: string): SipParts {
  if (text.length > SIP_MESSAGE_MAX_BYTES)
    throw new TrunklineError('message_too_large', `SIP: got ${text.length} bytes, expected at most ${SIP_MESSAGE_MAX_BYTES}`);
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) throw malformed('no empty line', 'one behind the headers');
  const [startLine = '', ...lines] = text
    .slice(0, end)
    .replace(/^(?:\r\n)+/, '')
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  if (lines.length > HEADERS_MAX) throw malformed(`${lines.length} headers`, `at most ${HEADERS_MAX}`);
  // Whatever ends a line elsewhere could smuggle headers into what is echoed.
  if ([startLine, ...lines].some((line) => /[\r\n\0]/.test(line))) throw malformed('a bare line end', 'CR and LF together');
  const parts = { startLine, headers: lines.map(readHeader), body: text.slice(end + 4) };
  const length = first(parts, 'content-length');
  if (length === null) return parts;
  if (!/^\d{1,6}$/.test(length) || Number(length) > parts.body.length) throw malformed('another Content-Length', 'that of the body');
  return { ...parts, body: parts.body.slice(0, Number(length)) };
}

function readHeader(line: string): Header {
  const [, name, value] = /^([\w!%'*+.`~-]{1,64})[ \t]*:[ \t]*(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw malformed('a line that is no header', 'name: value');
  const lower = name.toLowerCase();
  return [lower.length === 1 ? (LONG_NAMES[lower] ?? lower) : lower, value.trim()];
}

function first({ headers }: SipParts, name: string): string | null {
  return headers.find(([own]) => own === name)?.[1] ?? null;
}

function only(parts: SipParts, name: string): string {
  const values = parts.headers.filter(([own]) => own === name);
  const [[, value] = []] = values;
  if (values.length === 1 && value !== undefined && value !== '') return value;
  throw malformed(`${values.length} headers ${name}`, 'one that is not empty');
}

/** What names the dialog, and the body. */
function checkNames(parts: SipParts): void {
  if (only(parts, 'call-id').length > NAME_MAX_CHARS) throw malformed('a longer Call-ID', `at most ${NAME_MAX_CHARS} characters`);
  if (!/;\s*tag\s*=\s*[^\s;]/i.test(only(parts, 'from'))) throw malformed('a From without a tag', 'one with');
  only(parts, 'to');
  if (parts.body !== '') only(parts, 'content-type');
}

interface Via {
  /** Protocol and where it was sent from, as written. */
  readonly sentBy: string;
  readonly parameters: readonly string[];
  readonly branch: string;
}

/** RFC 3261 §20.42; a branch without the magic cookie would be of RFC 2543, which nobody speaks any more. */
function readVia(value: string): Via {
  const [sentBy = '', ...parameters] = value.split(';').map((part) => part.trim());
  const branch = parameters.find((parameter) => /^branch\s*=/i.test(parameter))?.replace(/^[^=]*=\s*/, '') ?? '';
  const isVia = /^SIP\s*\/\s*2\.0\s*\/\s*[A-Za-z-]{1,16}\s+[^\s,"<>]{1,256}(?:\s*:\s*\d{1,5})?$/.test(sentBy);
  if (!isVia || !/^z9hG4bK[^\s,"<>]{1,256}$/.test(branch)) throw malformed('another Via', 'SIP/2.0/UDP host;branch=z9hG4bK…');
  return { sentBy, parameters, branch };
}

/**
 * The Via with where the message came from (RFC 3261 §18.2.1, RFC 3581 §4), so that answers find back. What the sender itself wrote there is not believed. On
 * TCP the port names the connection.
 */
function noteSource({ sentBy, parameters }: Via, { protocol, address, port }: SipSource): string {
  const kept = parameters.filter((parameter) => !/^(?:received|rport|maddr)\s*(?:=|$)/i.test(parameter));
  const wantsPort = protocol === 'TCP' || parameters.some((parameter) => /^rport\s*(?:=|$)/i.test(parameter));
  return [sentBy, ...kept, `received=${address}`, ...(wantsPort ? [`rport=${port}`] : [])].join(';');
}

/**
 * A header's comma-separated values, empty ones left out; commas in quotes are part of one. A quote that never ends goes to the end, so that nothing is
 * read twice.
 */
function splitList(value: string): string[] {
  const items = value.match(/(?:[^,"]|"(?:[^"\\]|\\.?)*(?:"|$))+/g) ?? [];
  return items.map((item) => item.trim()).filter((item) => item !== '');
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

/** An address that the stack's grammar knows: a telephone number as a SIP user (RFC 3261 §19.1.6), `#` in a user as phones write it. */
function plainUri(value: string, host: string): string {
  const isBare = !value.includes('<');
  const bracketed = host.includes(':') ? `[${host}]` : host;
  const asSip = isBare
    ? value.replace(/^tel:([^;,\s]+)/i, `<sip:$1@${bracketed}>`)
    : value.replace(/<tel:([^;<>\s]+)[^<>]*>/i, `<sip:$1@${bracketed}>`);
  return asSip.replace(/(sips?:)([^@;>\s]*#[^@;>\s]*)@/i, (_, scheme: string, user: string) => `${scheme}${user.replaceAll('#', '%23')}@`);
}

/** The user or telephone number in a URI, or in a header's name and address: `"A" <sip:+14155550100;phone-context=x@host>`. Null = none. */
export function userOf(address: string): string | null {
  const uri = /<([^>]*)>/.exec(address)?.[1] ?? address;
  const [, number] = /^tel:([^;,\s]+)/i.exec(uri) ?? [];
  const [, user] = /^sips?:([^@]*)@/i.exec(uri) ?? [];
  const escaped = number ?? user?.split(/[;:]/)[0] ?? '';
  return unescapeUri(escaped) || null;
}

function unescapeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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
 * An answer of ours that has no body, in at most `maxBytes`: without what may be left out on UDP, with compact names (RFC 3261 §7.3.3), without a reason,
 * as far as it must be. Null = it does not go.
 */
export function fitSip(answer: string, maxBytes: number): string | null {
  const lean = answer.replace(SPARE_HEADERS, '');
  const compact = lean.replace(/^(via|from|to|call-id): /gim, (_, name: string) => `${SHORT_NAMES[name.toLowerCase()]}:`);
  const bare = compact.replace(/^(SIP\/2\.0 \d{3} )[^\r\n]*/, '$1');
  return [answer, lean, compact, bare].find(({ length }) => length <= maxBytes) ?? null;
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
  readonly branch: string;
  /** Null when the message does not say. */
  readonly destination: SipDestination | null;
}

/** Reads a message that our own stack wrote. A request goes to its first Route or its Request-URI, a response back to where the request came from. */
export function describeSip(text: string): SentSip {
  const head = text.slice(0, text.indexOf('\r\n\r\n'));
  const [, via = ''] = /^via: *(.*)$/im.exec(head) ?? [];
  const branch = /;branch=([^;\s]+)/i.exec(via)?.[1] ?? '';
  const [, status] = /^SIP\/2\.0 (\d{3})/.exec(head) ?? [];
  if (status !== undefined) {
    const method = /^cseq: *\d+ +(\w+)/im.exec(head)?.[1] ?? '';
    return { kind: 'response', method, statusCode: Number(status), branch, destination: backAlong(via) };
  }
  const [, method = '', uri = ''] = /^(\w+) (\S+)/.exec(head) ?? [];
  const [, route] = /^route: *([^\r\n]*)/im.exec(head) ?? [];
  const target = route === undefined ? uri : (/<([^>]*)>/.exec(route)?.[1] ?? route);
  return { kind: 'request', method, statusCode: null, branch, destination: hostOf(target) };
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

/** What a TCP connection brought: a message, or a sign of life that wants one back (RFC 5626 §4.4.1). */
export type SipFrame = { readonly type: 'message'; readonly text: string } | { readonly type: 'ping' };

/** Cuts a stream of bytes into messages by their Content-Length (RFC 3261 §18.3). */
export class SipFramer {
  #held = '';
  /** So far there is no empty line in what is held. */
  #searched = 0;

  /** Whether a message has begun that is not complete. */
  get midway(): boolean {
    return this.#held !== '';
  }

  /** Takes bytes in. Throws `message_too_large` and `message_malformed`; the stream cannot be read any further then. */
  push(bytes: Buffer): SipFrame[] {
    this.#held += bytes.toString('latin1');
    const frames: SipFrame[] = [];
    for (let frame = this.#take(); frame !== null; frame = this.#take()) frames.push(frame);
    if (this.#held.length > SIP_MESSAGE_MAX_BYTES) throw tooLarge();
    return frames;
  }

  #take(): SipFrame | null {
    if (this.#searched === 0 && this.#held.startsWith('\r\n')) {
      const isPing = this.#held.startsWith('\r\n\r\n');
      this.#held = this.#held.slice(isPing ? 4 : 2);
      return isPing ? { type: 'ping' } : this.#take();
    }
    const end = this.#held.indexOf('\r\n\r\n', Math.max(0, this.#searched - 3));
    if (end < 0) {
      this.#searched = this.#held === '\r' ? 0 : this.#held.length;
      return null;
    }
    this.#searched = end;
    const length = end + 4 + lengthIn(this.#held.slice(0, end));
    if (length > SIP_MESSAGE_MAX_BYTES) throw tooLarge();
    if (this.#held.length < length) return null;
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    this.#searched = 0;
    return { type: 'message', text };
  }
}

function tooLarge(): TrunklineError {
  return new TrunklineError('message_too_large', `SIP: a message above ${SIP_MESSAGE_MAX_BYTES} bytes`);
}

function lengthIn(head: string): number {
  const [, length] = /^(?:content-length|l)[ \t]*:[ \t]*(\d{1,6})[ \t]*\r?$/im.exec(head) ?? [];
  if (length === undefined) throw malformed('no Content-Length', 'one: on TCP it alone says where a message ends');
  return Number(length);
}
