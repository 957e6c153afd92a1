/**
 * What it costs to interpret a SIP message. The stack's grammar takes 3 to 9 µs for each character of the headers that
 * it reads, so that one message of the largest size would keep all calls waiting for a quarter of a second.
 */
import { SipFault } from './fault.ts';

/** All that the grammar reads, but for what is bounded elsewhere (Via, CSeq, Call-ID). */
const INTERPRETED: ReadonlySet<string> = new Set([
  ...[
    'from',
    'to',
    'contact',
    'record-route',
    'content-type',
    'max-forwards',
    'refer-to',
    'www-authenticate',
    'proxy-authenticate',
  ],
]);
/**
 * Of a message, in these headers together: a call through a dozen proxies has half of it. It is read in 16 ms at most.
 */
export const SIP_INTERPRETED_MAX_CHARS = 4096;
/** Between commas: short values in a list take three times as long as the same characters in one. */
export const SIP_INTERPRETED_MAX_VALUES = 64;
/** What a telephone's message has of them; it weighs no more than its bytes. */
const LIGHT_CHARS = 512;
/** Reading a character of them takes as long as this many bytes. */
const BYTES_PER_CHAR = 4;

type Header = readonly [name: string, value: string];

/**
 * Refuses a message of which too much would have to be interpreted. Names are long and in lower case.
 * @throws SipFault
 */
export function checkInterpreted(headers: readonly Header[]): void {
  const { chars, values } = interpretedIn(headers);
  const where = 'in From, To, Contact, Record-Route and their like';
  if (chars > SIP_INTERPRETED_MAX_CHARS)
    throw new SipFault(`${chars} characters ${where}`, `at most ${SIP_INTERPRETED_MAX_CHARS}`, 513);
  if (values > SIP_INTERPRETED_MAX_VALUES)
    throw new SipFault(`${values} values ${where}`, `at most ${SIP_INTERPRETED_MAX_VALUES}`, 513);
}

/**
 * The bytes of a message that would take as long as this one of `bytes`. One that {@link checkInterpreted} refuses
 * costs next to nothing.
 */
export function weighSip(headers: readonly Header[], bytes: number): number {
  const { chars, values } = interpretedIn(headers);
  const isRefused = chars > SIP_INTERPRETED_MAX_CHARS || values > SIP_INTERPRETED_MAX_VALUES;
  return isRefused ? bytes : bytes + BYTES_PER_CHAR * Math.max(0, chars - LIGHT_CHARS);
}

function interpretedIn(headers: readonly Header[]): { readonly chars: number; readonly values: number } {
  const read = headers.flatMap(([name, value]) => (INTERPRETED.has(name) ? [value] : []));
  return { chars: read.join('').length, values: read.join(',').split(',').length };
}
