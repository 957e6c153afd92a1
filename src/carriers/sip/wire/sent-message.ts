/** SIP messages that our own stack wrote: where they go, their transaction, and how to make an answer shorter. */
import { hostOf, type SipDestination } from './uris.ts';
import { glanceVia, SIP_DEFAULT_PORT, tagIn, transactionOf } from './via.ts';

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
  const [, via = ''] = /^via: *(.*)/im.exec(head) ?? [];
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
  const callId = /^call-id: *(.*)/im.exec(head)?.[1] ?? '';
  const fromTag = tagIn(/^from: *(.*)/im.exec(head)?.[1] ?? '');
  const top = glanceVia(via);
  return top === null ? '' : transactionOf(top, { method, callId, fromTag, sequence });
}

/** RFC 3261 §18.2.2 and RFC 3581 §4. */
function backAlong(via: string): SipDestination | null {
  const address = /;received=([^;\s]+)/i.exec(via)?.[1];
  const port = /;rport=(\d+)/i.exec(via)?.[1] ?? /^\S+ +(?:\[[^\]]*\]|[^;:\s]+):(\d{1,5})/.exec(via)?.[1];
  return address === undefined ? null : { host: address, port: Number(port ?? SIP_DEFAULT_PORT) };
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
