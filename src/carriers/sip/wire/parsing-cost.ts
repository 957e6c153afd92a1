/**
 * How long it takes to interpret a SIP message. The stack's grammar takes 3 to 9 µs for each character of the headers
 * that it reads, so one message of the largest size would make all calls wait for a quarter of a second.
 */
import { SipFault } from './fault.ts';
import { type Header, headersIn, unfoldSip } from './headers.ts';

/** All headers that the grammar reads, except those that are bounded elsewhere (Via, CSeq, Call-ID). */
const INTERPRETED: ReadonlySet<string> = new Set([
  'from',
  'to',
  'contact',
  'record-route',
  'content-type',
  'max-forwards',
  'refer-to',
  'www-authenticate',
  'proxy-authenticate',
]);
/**
 * Limit for these headers of one message together: a call through a dozen proxies has half of it. The grammar reads as
 * much in 16 ms at most.
 */
export const SIP_INTERPRETED_MAX_CHARS = 4096;
/** Limit for their values: short values in a list take three times as long as the same characters in one value. */
export const SIP_INTERPRETED_MAX_VALUES = 64;
/** A telephone's message has fewer characters in these headers; its weight is its size. */
const LIGHT_CHARS = 512;
/** Reading one of these characters takes as long as reading this many bytes. */
const BYTES_PER_CHAR = 4;
/** So many bytes of a body take as long as one of the headers: 30 kB of it cost 0.3 ms. */
const BODY_BYTES_PER_BYTE = 8;

/**
 * Refuses a message with too much to interpret. Names are long and in lower case.
 * @throws SipFault
 */
export function checkInterpreted(headers: readonly Header[]): void {
  const { chars, values } = interpretedIn(headers);
  const where = 'in From, To, Contact, Record-Route and similar headers';
  if (chars > SIP_INTERPRETED_MAX_CHARS)
    throw new SipFault(`${chars} characters ${where}`, `at most ${SIP_INTERPRETED_MAX_CHARS}`, 513);
  if (values > SIP_INTERPRETED_MAX_VALUES)
    throw new SipFault(`${values} values ${where}`, `at most ${SIP_INTERPRETED_MAX_VALUES}`, 513);
}

/**
 * How long a message takes to interpret, as a number of bytes that take as long. Rate limits count these. A message
 * that {@link checkInterpreted} refuses costs next to nothing.
 */
export function sipWeight(message: string): number {
  const { chars, values } = interpretedIn(headersIn(unfoldSip(message)));
  const isRefused = chars > SIP_INTERPRETED_MAX_CHARS || values > SIP_INTERPRETED_MAX_VALUES;
  const end = message.indexOf('\r\n\r\n', 1);
  const headBytes = end < 0 ? message.length : end + 4;
  const bytes = headBytes + Math.ceil((message.length - headBytes) / BODY_BYTES_PER_BYTE);
  return isRefused ? bytes : bytes + BYTES_PER_CHAR * Math.max(0, chars - LIGHT_CHARS);
}

function interpretedIn(headers: readonly Header[]): { readonly chars: number; readonly values: number } {
  const read = headers.flatMap(([name, value]) => (INTERPRETED.has(name) ? [value] : []));
  return { chars: read.join('').length, values: read.join(',').split(',').length };
}
