/** SIP messages for tests. */
import { receiveSip } from '../../../../src/carriers/sip/wire/received-message.ts';

export const OWN = 'sip:trunkline@198.51.100.1';
export const SOURCE = { protocol: 'UDP', address: '192.0.2.7', port: 5062 } as const;
export const VIA = 'Via: SIP/2.0/UDP 10.0.0.5;branch=z9hG4bKa;rport';
export const HEADERS = ['From: <sip:a@h>;tag=1', 'To: <sip:b@h>', 'Call-ID: c', 'CSeq: 1 OPTIONS'];

export function message(lines: readonly string[], body = ''): string {
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** A request with these headers beside the usual ones. */
export function options(...more: string[]): string {
  return message(['OPTIONS sip:b@h SIP/2.0', VIA, ...HEADERS, ...more]);
}

export function read(text: string, source: Parameters<typeof receiveSip>[1] = SOURCE): ReturnType<typeof receiveSip> {
  return receiveSip(text, source, OWN);
}
