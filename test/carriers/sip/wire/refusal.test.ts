import { describe, expect, it } from 'vitest';
import { refuseSip } from '../../../../src/carriers/sip/wire/refusal.ts';

const UDP = { protocol: 'UDP', address: '192.0.2.7', port: 5062 } as const;
const VIA = 'Via: SIP/2.0/UDP 10.0.0.5:5080;branch=z9hG4bKa';
const NAMES = ['From: <sip:a@h>;tag=1', 'To: <sip:b@h>', 'Call-ID: c', 'CSeq: 1 OPTIONS'];
const fault = { statusCode: 400, reason: 'Bad Request: why' };

const message = (start: string, lines: readonly string[]): string => `${[start, ...lines].join('\r\n')}\r\n\r\n`;
const options = (...lines: string[]): string => message('OPTIONS sip:b@h SIP/2.0', lines);
const refuse = (text: string, source: Parameters<typeof refuseSip>[1]['source'] = UDP) =>
  refuseSip(text, { source, fault, tagOf: () => 'ours' });

describe('refuseSip', () => {
  it('says back what came, and goes to where it came from', () => {
    expect(refuse(options(VIA, ...NAMES, 'User-Agent: phone'))).toEqual({
      text: [
        'SIP/2.0 400 Bad Request: why',
        'Via: SIP/2.0/UDP 10.0.0.5:5080;branch=z9hG4bKa;received=192.0.2.7',
        'From: <sip:a@h>;tag=1',
        'To: <sip:b@h>;tag=ours',
        'Call-ID: c',
        'CSeq: 1 OPTIONS',
        'Content-Length: 0',
        '\r\n',
      ].join('\r\n'),
      destination: { host: '192.0.2.7', port: 5080 },
      userAgent: 'phone',
    });
  });

  it.each([
    ['rport', options(`${VIA};rport`, ...NAMES), UDP, 5062],
    ['TCP', options(VIA, ...NAMES), { ...UDP, protocol: 'TCP' } as const, 5062],
    ['no port', options('Via: SIP/2.0/UDP 10.0.0.5;branch=z9hG4bKa', ...NAMES), UDP, 5060],
    ['received and maddr of others', options(`${VIA};received=203.0.113.1;maddr=203.0.113.2`, ...NAMES), UDP, 5080],
  ])('with %s goes to the right port of nobody but the sender', (_what, text, source, port) => {
    const refusal = refuse(text, source);
    expect(refusal?.destination).toEqual({ host: '192.0.2.7', port });
    expect(refusal?.text).not.toContain('203.0.113');
  });

  it('keeps the tag that To has, and makes one of what names the request where it has none', () => {
    const names: string[] = [];
    const tagOf = (name: string): string => String(names.push(name));
    expect(
      refuseSip(options(VIA, ...NAMES.toSpliced(1, 1, 'To: "x;tag=no" <sip:b@h>;tag=2')), { source: UDP, fault, tagOf })
        ?.text,
    ).toContain(';tag=2\r\n');
    for (const callId of ['c', 'c', 'd'])
      refuseSip(options(VIA, ...NAMES.toSpliced(2, 1, `Call-ID: ${callId}`)), { source: UDP, fault, tagOf });
    expect(new Set(names.slice(1)).size).toBe(2);
  });

  it('leaves out what is missing or broken, and the Vias that are none', () => {
    const text = options(
      `${VIA};;x="`,
      'Via: ;, SIP/2.0/TCP p;branch=z9hG4bKb',
      'hello',
      'Call-ID: c\nX: smuggled',
      'CSeq: 99999999999999999999 OPTIONS',
    );
    expect(refuse(text)?.text.split('\r\n')).toEqual([
      'SIP/2.0 400 Bad Request: why',
      'Via: SIP/2.0/UDP 10.0.0.5:5080;branch=z9hG4bKa;received=192.0.2.7',
      'Via: SIP/2.0/TCP p;branch=z9hG4bKb',
      'CSeq: 99999999999999999999 OPTIONS',
      'Content-Length: 0',
      '',
      '',
    ]);
  });

  it('answers what breaks off', () => expect(refuse(options(VIA, ...NAMES).slice(0, -4))).not.toBeNull());

  it.each([
    ['an answer', message('SIP/2.0 200 OK', [VIA, ...NAMES])],
    ['an answer of another version', message('SIP/7.0 200 OK', [VIA, ...NAMES])],
    ['an ACK', message('ACK sip:b@h SIP/2.0', [VIA, ...NAMES.slice(0, 3), 'CSeq: 1 ACK'])],
    ['an ACK by its first line', message('ACK sip:b@h SIP/2.0', [VIA, ...NAMES])],
    ['an ACK by its CSeq', options(VIA, ...NAMES.slice(0, 3), 'CSeq: 1 ACK')],
    ['another protocol', message('GET / HTTP/1.1', [VIA, ...NAMES])],
    ['no Via', options(...NAMES)],
    ['a Via that cannot be read', options('Via: HTTP/1.1 proxy', ...NAMES)],
    ['a Via with a port beyond bounds', options('Via: SIP/2.0/UDP h:70000', ...NAMES)],
    ['no CSeq', options(VIA, ...NAMES.slice(0, 3))],
    ['nothing', ''],
  ])('has no answer to %s', (_what, text) => expect(refuse(text)).toBeNull());
});
