/**
 * Via headers (RFC 3261 §20.42): where a request came from, where its answer goes, and which transaction it belongs to.
 */
import { SipFault } from './fault.ts';

/** What carries messages. */
export type SipTransport = 'UDP' | 'TCP' | 'TLS';

/** Where a message came from. */
export interface SipSource {
  readonly protocol: SipTransport;
  readonly address: string;
  readonly port: number;
}

/** One value of a Via header. */
export interface Via {
  /** As written: `2.0`. */
  readonly version: string;
  /** As written: `UDP`, `TCP` or another token. */
  readonly transport: string;
  /** Name or address; IPv6 in brackets. */
  readonly host: string;
  /** Null when the header has none. */
  readonly port: number | null;
  /** `name` or `name=value`, without the space around them. */
  readonly parameters: readonly string[];
  /** '' when there is none. */
  readonly branch: string;
}

/** The fields that identify a transaction in addition to the Via. */
export interface TransactionNames {
  readonly method: string;
  readonly callId: string;
  readonly fromTag: string;
  readonly sequence: number;
}

/** Longest value that we accept: the grammar of sip.js takes a second for 30,000 characters. */
const VIA_MAX_CHARS = 1024;
/** The port for UDP and TCP if an address has none, and that for TLS (RFC 3261 §19.1.2). */
export const SIP_DEFAULT_PORT = 5060;
export const SIPS_DEFAULT_PORT = 5061;
const PORT_MAX = 65_535;
const SENT_BY =
  /^SIP\s*\/\s*(\d{1,3}\.\d{1,3})\s*\/\s*([\w!%'*+.`~-]{1,16})\s+(\[[0-9A-Fa-f:.]{2,45}\]|[^\s,;:"<>[\]]{1,256})(?:\s*:\s*(\d{1,5}))?$/i;
const PARAMETER = /^[\w!%'*+.`~-]{1,64}(?:=(?:[^\s,;"<>]{0,512}|"(?:[^"\\]|\\.)*"))?$/;
const BRANCH = /^[^\s,"<>]{0,256}$/;
/** A branch of RFC 3261 is unique for its sender. One without this prefix, or with nothing after it, is not. */
const UNIQUE_BRANCH = /^z9hG4bK./;

/** All values of a message's Via headers, topmost first, without empty ones. */
export function viasIn(headers: ReadonlyArray<readonly [name: string, value: string]>): string[] {
  return headers.filter(([name]) => name === 'via').flatMap(([, value]) => splitList(value));
}

/** Reads one value; null when its protocol or host is invalid. Invalid parameters are left out. */
export function glanceVia(value: string): Via | null {
  const [sentBy = '', ...rest] = splitParameters(value);
  const [, version, transport, host, port] = SENT_BY.exec(sentBy) ?? [];
  if (version === undefined || transport === undefined || host === undefined) return null;
  if (port !== undefined && (Number(port) === 0 || Number(port) > PORT_MAX)) return null;
  const parameters = rest.filter((parameter) => PARAMETER.test(parameter));
  return {
    version,
    transport,
    host,
    port: port === undefined ? null : Number(port),
    parameters,
    branch: branchOf(parameters),
  };
}

/**
 * Reads the topmost value of a request or an answer. The branch may be missing or lack the magic cookie (RFC 2543).
 * @throws SipFault when any part of the value is invalid
 */
export function readVia(value: string): Via {
  if (value.length > VIA_MAX_CHARS) throw new SipFault('a longer Via', `at most ${VIA_MAX_CHARS} characters`);
  const via = glanceVia(value);
  const parameters = splitParameters(value).slice(1);
  if (
    via === null ||
    via.version !== '2.0' ||
    !parameters.every((parameter) => PARAMETER.test(parameter)) ||
    !BRANCH.test(via.branch)
  ) {
    throw new SipFault('a Via that cannot be read', 'SIP/2.0/UDP host;branch=z9hG4bK...');
  }
  return via;
}

/**
 * The Via with the source of the message added (RFC 3261 §18.2.1, RFC 3581 §4), so that answers reach the sender.
 * Source parameters that the sender wrote itself are removed. On TCP and TLS the port identifies the connection.
 */
export function noteSource(via: Via, { protocol, address, port }: SipSource): string {
  const kept = via.parameters.filter((parameter) => !/^(?:received|rport|maddr)(?:=|$)/i.test(parameter));
  const noted = wantsSourcePort(via, protocol) ? [`received=${address}`, `rport=${port}`] : [`received=${address}`];
  return [`SIP/${via.version}/${via.transport} ${hostAndPort(via)}`, ...kept, ...noted].join(';');
}

/** The port at the source's address to which an answer goes (RFC 3261 §18.2.2, RFC 3581 §4). */
export function answerPort(via: Via, { protocol, port }: SipSource): number {
  return wantsSourcePort(via, protocol) ? port : (via.port ?? SIP_DEFAULT_PORT);
}

/**
 * The key of a request's transaction (RFC 3261 §17.2.3): branch, sent-by and method. ACK and CANCEL have the key of the
 * INVITE that they belong to. If the branch is not unique, Call-ID, From tag and sequence number are added, as in
 * RFC 2543.
 */
export function transactionOf(
  { branch, host, port }: Via,
  { method, callId, fromTag, sequence }: TransactionNames,
): string {
  const sentBy = `${host.toLowerCase()}:${port ?? SIP_DEFAULT_PORT}`;
  const of = method === 'ACK' || method === 'CANCEL' ? 'INVITE' : method;
  return JSON.stringify([branch, sentBy, of, ...(UNIQUE_BRANCH.test(branch) ? [] : [callId, fromTag, sequence])]);
}

/** The tag in a From or To header; '' when it has none. Text in a quoted name or in the URI's brackets is ignored. */
export function tagIn(address: string): string {
  const parameters = address.replace(/"(?:[^"\\]|\\.?)*(?:"|$)/g, '').replace(/^[^>]*>/, '');
  return /;\s*tag\s*=\s*([^\s;,"<>]+)/i.exec(parameters)?.[1] ?? '';
}

/**
 * A header's comma-separated values, without empty ones. Commas in quotes do not separate. An unclosed quote extends to
 * the end, so that the expression does not backtrack.
 */
export function splitList(value: string): string[] {
  const items = value.match(/(?:[^,"]|"(?:[^"\\]|\\.?)*(?:"|$))+/g) ?? [];
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

/** The parts between semicolons, trimmed, without space around `=`. Semicolons in quotes do not separate. */
function splitParameters(value: string): string[] {
  const parts = value.includes('"') ? (value.match(/(?:[^;"]|"(?:[^"\\]|\\.?)*(?:"|$))+/g) ?? []) : value.split(';');
  return parts.map((part, index) => (index === 0 ? part.trim() : part.trim().replace(/^([^\s="]*)\s*=\s*/, '$1=')));
}

function branchOf(parameters: readonly string[]): string {
  return parameters.find((parameter) => /^branch=/i.test(parameter))?.slice('branch='.length) ?? '';
}

function hostAndPort({ host, port }: Via): string {
  return port === null ? host : `${host}:${port}`;
}

function wantsSourcePort({ parameters }: Via, protocol: SipSource['protocol']): boolean {
  return protocol !== 'UDP' || parameters.some((parameter) => /^rport(?:=|$)/i.test(parameter));
}
