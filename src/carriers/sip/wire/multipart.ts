/**
 * Bodies of several parts in SIP messages (RFC 2046 §5.1, RFC 5621), as vendors write them: the parameter in any form
 * of quoting or wrong, lines that end in LF alone, headers without a space, no last delimiter. Characters are bytes
 * (latin1), as in all that is read of SIP messages.
 */
import { SipFault } from './fault.ts';

const PARTS_MAX = 16;
const HEADERS_MAX = 32;
/** RFC 2046 allows 70. */
const BOUNDARY_MAX_CHARS = 256;

/** One part, with what its headers say. Names and types are in lower case. */
export interface BodyPart {
  /** Without parameters; `text/plain` when the part does not say (RFC 2046 §5.1). */
  readonly type: string;
  /** Content-Disposition without parameters, such as `recording-session`; '' = it does not say. */
  readonly disposition: string;
  /** Whether its sender insists that it is understood: `handling=required` (RFC 3204). */
  readonly isRequired: boolean;
  /** Lines end in CRLF. */
  readonly content: string;
}

/**
 * Cuts a body into its parts. `contentType` = the value of the message's header. Where the parameter `boundary` is
 * missing, or none of the body's lines is such a delimiter, the body's first line that begins with two hyphens says
 * what it is.
 * @throws SipFault when there is no delimiter, or too much of anything
 */
export function readMultipart(body: string, contentType: string): BodyPart[] {
  const lines = body.split(/\r\n|\n|\r/);
  const delimiter = delimiterIn(lines, contentType);
  if (delimiter === null) throw new SipFault('a body of several parts without a delimiter', 'a line of its boundary');
  const parts: string[][] = [];
  let isOpen = false;
  for (const line of lines) {
    const end = line.startsWith(delimiter) ? line.slice(delimiter.length).trimEnd() : null;
    if (end === '--') break;
    if (end === '') parts.push([]);
    else if (isOpen) parts.at(-1)?.push(line);
    isOpen = parts.length > 0;
    if (parts.length > PARTS_MAX) throw new SipFault(`more than ${PARTS_MAX} parts in a body`, 'fewer', 513);
  }
  return parts.map(readPart);
}

function delimiterIn(lines: readonly string[], contentType: string): string | null {
  const [, quoted, token] = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'?([^\s;"']+))/i.exec(contentType) ?? [];
  const named = quoted?.replace(/\\(.)/g, '$1') ?? token ?? '';
  const wanted = `--${named}`;
  const isThere = named !== '' && named.length <= BOUNDARY_MAX_CHARS && lines.some((line) => line.trimEnd() === wanted);
  if (isThere) return wanted;
  const first = lines.find((line) => /^--\S/.test(line))?.trimEnd() ?? '';
  return first === '' || first.length > BOUNDARY_MAX_CHARS ? null : first;
}

function readPart(lines: readonly string[]): BodyPart {
  const end = lines.findIndex((line) => line.trim() === '');
  const head = unfold(end < 0 ? lines : lines.slice(0, end));
  if (head.length > HEADERS_MAX) throw new SipFault(`more than ${HEADERS_MAX} headers in a part`, 'fewer', 513);
  const disposition = headerIn(head, 'content-disposition');
  return {
    type: withoutParameters(headerIn(head, 'content-type')) || 'text/plain',
    disposition: withoutParameters(disposition),
    isRequired: /;\s*handling\s*=\s*"?required\b/i.test(disposition),
    content: end < 0 ? '' : lines.slice(end + 1).join('\r\n'),
  };
}

/** A line that begins with white space goes on with the one before. */
function unfold(lines: readonly string[]): string[] {
  const whole: string[] = [];
  for (const line of lines) {
    if (/^[ \t]/.test(line) && whole.length > 0) whole.push(`${whole.pop()} ${line.trim()}`);
    else whole.push(line);
  }
  return whole;
}

/** The value of the first such header; the short form `c` is Content-Type. */
function headerIn(lines: readonly string[], name: string): string {
  for (const line of lines) {
    const colon = line.indexOf(':');
    const own = colon < 0 ? '' : line.slice(0, colon).trim().toLowerCase();
    if (own === name || (own === 'c' && name === 'content-type')) return line.slice(colon + 1).trim();
  }
  return '';
}

function withoutParameters(value: string): string {
  return (value.split(';')[0] ?? '').trim().toLowerCase();
}
