/** Session descriptions as text (RFC 8866): read strictly, with bounds. */
import { TrunklineError } from '../../../foundation/errors.ts';

/** Far beyond any telephone's; a browser's offer of many streams has about 8 kB. */
const SDP_MAX_CHARS = 16_384;
const LINES_MAX = 512;
const STREAMS_MAX = 16;
const FORMATS_MAX = 64;

/** Who sends, as the side that wrote the description sees it. */
export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

/** One `m=` line and what belongs to it. */
export interface MediaDescription {
  readonly kind: string;
  readonly port: number;
  readonly protocol: string;
  readonly formats: readonly string[];
  /** Address of its own or of the session. */
  readonly address: string;
  readonly direction: Direction;
  /** `a=` lines of the stream alone, in order; `value` is null for a property. */
  readonly attributes: readonly Attribute[];
}

interface Attribute {
  readonly name: string;
  readonly value: string | null;
}

/** A description as it was read, checked for its form. */
export interface SessionDescription {
  /** `o=`: with the same id and version nothing has changed. */
  readonly sessionId: string;
  readonly version: string;
  readonly media: readonly MediaDescription[];
}

/** A `message_malformed` that names the line without showing what is in it. */
function malformed(what: string, expected: string): TrunklineError {
  return new TrunklineError('message_malformed', `SDP: got ${what}, expected ${expected}`);
}

/**
 * Reads a description.
 * @throws TrunklineError `message_too_large`, `message_malformed`
 */
export function parseSdp(text: string): SessionDescription {
  if (text.length > SDP_MAX_CHARS) {
    throw new TrunklineError(
      'message_too_large',
      `SDP: got ${text.length} characters, expected at most ${SDP_MAX_CHARS}`,
    );
  }
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line !== '');
  if (lines.length > LINES_MAX)
    throw new TrunklineError('message_too_large', `SDP: got ${lines.length} lines, expected at most ${LINES_MAX}`);
  const wrong = lines.findIndex((line) => !/^[a-z]=/.test(line));
  if (wrong >= 0) throw malformed(`line ${wrong + 1} without a type`, 'a letter and an equals sign');
  if (lines[0] !== 'v=0') throw malformed('another first line', 'v=0');
  const [session, ...streams] = splitStreams(lines);
  if (streams.length > STREAMS_MAX) {
    throw new TrunklineError(
      'message_too_large',
      `SDP: got ${streams.length} streams, expected at most ${STREAMS_MAX}`,
    );
  }
  const address = readAddress(session);
  const direction = readDirection(readAttributes(session)) ?? 'sendrecv';
  return { ...readOrigin(session), media: streams.map((stream) => readStream(stream, address, direction)) };
}

/** The lines of the session, then those of each stream from its `m=` on. */
function splitStreams(lines: readonly string[]): [session: string[], ...streams: string[][]] {
  const parts: [string[], ...string[][]] = [[]];
  for (const line of lines) {
    if (line.startsWith('m=')) parts.push([line]);
    else (parts.at(-1) as string[]).push(line);
  }
  return parts;
}

function readOrigin(session: readonly string[]): { sessionId: string; version: string } {
  const line = session.find((each) => each.startsWith('o='));
  const [, sessionId, version] = line?.slice(2).split(' ') ?? [];
  if (
    sessionId === undefined ||
    version === undefined ||
    !/^\d{1,20}$/.test(sessionId) ||
    !/^\d{1,20}$/.test(version)
  ) {
    throw malformed(
      line === undefined ? 'no o= line' : 'an o= line of another form',
      'o=<user> <id> <version> IN IP4 <address>',
    );
  }
  return { sessionId, version };
}

function readAddress(lines: readonly string[]): string | null {
  const line = lines.find((each) => each.startsWith('c='));
  if (line === undefined) return null;
  const [, kind, address = ''] = /^c=IN (IP4|IP6) (\S+)\s*$/.exec(line) ?? [];
  if (kind === 'IP4' && isUnicast4(address)) return address;
  if (kind === 'IP6' && isUnicast6(address)) return address;
  throw malformed('a c= line of another form', 'c=IN IP4 or IN IP6 and the address of one machine');
}

function isUnicast4(address: string): boolean {
  const bytes = address.split('.');
  if (bytes.length !== 4 || !bytes.every((byte) => /^\d{1,3}$/.test(byte) && Number(byte) <= 255)) return false;
  return Number(bytes[0]) < 224;
}

function isUnicast6(address: string): boolean {
  return /^[0-9a-fA-F:.]{2,45}$/.test(address) && !/^ff/i.test(address) && URL.canParse(`http://[${address}]`);
}

function readStream(
  lines: readonly string[],
  sessionAddress: string | null,
  sessionDirection: Direction,
): MediaDescription {
  const [, kind, port, protocol, formats] = /^m=(\S+) (\d{1,5})(?:\/\d+)? (\S+) (.+)$/.exec(lines[0] ?? '') ?? [];
  if (
    kind === undefined ||
    port === undefined ||
    protocol === undefined ||
    formats === undefined ||
    Number(port) > 65_535
  ) {
    throw malformed('an m= line of another form', 'm=<kind> <port> <protocol> <formats>');
  }
  const list = formats.trim().split(/ +/);
  if (list.length > FORMATS_MAX)
    throw new TrunklineError('message_too_large', `SDP: got ${list.length} formats, expected at most ${FORMATS_MAX}`);
  const attributes = readAttributes(lines);
  const address = readAddress(lines) ?? sessionAddress;
  if (address === null && Number(port) !== 0)
    throw malformed('a stream without a c= line', 'one, or one for the session');
  const direction = readDirection(attributes) ?? sessionDirection;
  return { kind, port: Number(port), protocol, formats: list, address: address ?? '0.0.0.0', direction, attributes };
}

function readAttributes(lines: readonly string[]): Attribute[] {
  return lines
    .filter((line) => line.startsWith('a='))
    .map((line) => {
      const colon = line.indexOf(':');
      if (colon < 0) return { name: line.slice(2).trim(), value: null };
      return { name: line.slice(2, colon), value: line.slice(colon + 1).trim() };
    });
}

function readDirection(attributes: readonly Attribute[]): Direction | null {
  const found = attributes.find(({ name }) => /^(sendrecv|sendonly|recvonly|inactive)$/.test(name));
  return found === undefined ? null : (found.name as Direction);
}

/** The value of a stream's attribute; null when it has none. */
export function attribute({ attributes }: MediaDescription, name: string): string | null {
  return attributes.find((each) => each.name === name)?.value ?? null;
}
