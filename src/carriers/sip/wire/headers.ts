/**
 * Lines and headers of SIP messages (RFC 3261 §7.3). Characters are bytes (latin1), so that lengths are right and what
 * is echoed is echoed exactly.
 */

/** Larger than any INVITE with a browser's offer. */
export const SIP_MESSAGE_MAX_BYTES = 32_768;

/** A header: its name, long and in lower case, and its value. */
export type Header = readonly [name: string, value: string];

/** A message that has been interpreted: the stack's messages are such. Names are in any case. */
export interface SipHeaders {
  getHeader(name: string): string | undefined;
  getHeaders(name: string): readonly string[];
}

/** Long names of the one-letter headers: RFC 3261 §7.3.3 and later RFCs; in lower case as all names here. */
const LONG_NAMES: Readonly<Record<string, string>> = {
  b: 'referred-by',
  c: 'content-type',
  e: 'content-encoding',
  f: 'from',
  i: 'call-id',
  k: 'supported',
  l: 'content-length',
  m: 'contact',
  o: 'event',
  r: 'refer-to',
  s: 'subject',
  t: 'to',
  u: 'allow-events',
  v: 'via',
  x: 'session-expires',
};

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

/** One header, or null when the line is none. */
export function splitHeader(line: string): Header | null {
  const [, name, value] = /^([\w!%'*+.`~-]{1,256})[ \t]*:(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) return null;
  const lower = name.toLowerCase();
  return [lower.length === 1 ? (LONG_NAMES[lower] ?? lower) : lower, value.trim()];
}

/** Option tags (RFC 3261 §19.2) of all `values` of Require, Supported and the like, in lower case. */
export function optionTagsIn(values: readonly string[]): string[] {
  const tags = values.flatMap((value) => value.split(',')).map((tag) => tag.trim().toLowerCase());
  return tags.filter((tag) => tag !== '');
}

/** The headers among `lines`; lines that are none are left out. */
export function headersIn(lines: readonly string[]): Header[] {
  return lines.flatMap((line) => {
    const header = splitHeader(line);
    return header === null ? [] : [header];
  });
}
