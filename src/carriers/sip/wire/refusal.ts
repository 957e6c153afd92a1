/**
 * Answers to requests that are not taken, written from as much of them as can be read (RFC 3261 §8.2.6, §18.2.2): the
 * stack that interprets messages never sees those.
 */

import type { SipFault } from './fault.ts';
import { type Header, headersIn, isPlainLine, unfoldSip } from './headers.ts';
import type { SipDestination } from './uris.ts';
import { answerPort, glanceVia, noteSource, type SipSource, tagIn, viasIn } from './via.ts';

/** What an answer needs beside its request. */
export interface RefusalOptions {
  readonly source: SipSource;
  readonly fault: Pick<SipFault, 'statusCode' | 'reason'>;
  /** Further headers, each a line. */
  readonly headers?: readonly string[];
  /** Our tag in To, made of what names the request. */
  tagOf(names: string): string;
}

/** An answer and where it goes. */
export interface SipRefusal {
  readonly text: string;
  readonly destination: SipDestination;
  /** The sender's program, as it says; '' = it does not. */
  readonly userAgent: string;
}

/** A request, whatever its version is. An answer begins with `SIP/`, which is no method. */
const REQUEST_LINE = /^([\w!%'*+.`~-]{1,64})[ \t]+\S.*[ \t]SIP\/\d{1,3}\.\d{1,3}[ \t]*$/i;
const SEQUENCE = /^\d{1,128}\s+([\w!%'*+.`~-]{1,64})$/;

/**
 * Refuses the request in `text`, which may break off anywhere. Null where there is nothing to answer: it is no request
 * or an ACK (RFC 3261 §17.1.1.3), or its topmost Via or its CSeq cannot be read, without which nobody could tell what
 * the answer is to.
 */
export function refuseSip(text: string, { source, fault, headers = [], tagOf }: RefusalOptions): SipRefusal | null {
  const [startLine = '', ...lines] = unfoldSip(text);
  const method = REQUEST_LINE.exec(startLine)?.[1];
  const known = headersIn(lines.filter(isPlainLine));
  const sequence = first(known, 'cseq');
  const sequenceMethod = SEQUENCE.exec(sequence)?.[1];
  if (method === undefined || sequenceMethod === undefined || method === 'ACK' || sequenceMethod === 'ACK') return null;
  const [topmost = '', ...vias] = viasIn(known);
  const top = glanceVia(topmost);
  if (top === null) return null;
  const [from, to, callId] = [first(known, 'from'), first(known, 'to'), first(known, 'call-id')];
  const tag = tagOf(JSON.stringify([top.branch, top.host, sequence, from, callId]));
  const answer = [
    `SIP/2.0 ${fault.statusCode} ${fault.reason}`,
    ...[noteSource(top, source), ...vias.filter((via) => glanceVia(via) !== null)].map((via) => `Via: ${via}`),
    ...named('From', from),
    ...named('To', to === '' || tagIn(to) !== '' ? to : `${to};tag=${tag}`),
    ...named('Call-ID', callId),
    `CSeq: ${sequence}`,
    ...headers,
    'Content-Length: 0',
  ];
  const destination = { host: source.address, port: answerPort(top, source) };
  return { text: `${answer.join('\r\n')}\r\n\r\n`, destination, userAgent: first(known, 'user-agent') };
}

function first(headers: readonly Header[], name: string): string {
  return headers.find(([own]) => own === name)?.[1] ?? '';
}

function named(name: string, value: string): string[] {
  return value === '' ? [] : [`${name}: ${value}`];
}
