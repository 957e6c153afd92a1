import { describe, expect, it } from 'vitest';
import { SIP_MESSAGE_MAX_BYTES } from '../../../../src/carriers/sip/wire/headers.ts';
import { TrunklineError } from '../../../../src/foundation/errors.ts';
import { HEADERS, message, OWN, options, read, SOURCE, VIA } from './messages.ts';

const codeOf = (text: string): string => {
  try {
    read(text);
    return 'none';
  } catch (error) {
    return error instanceof TrunklineError ? error.code : String(error);
  }
};

describe('receiveSip', () => {
  it('notes where a request came from, and asks for us instead of whomever it names', () => {
    const received = read(options('User-Agent: phone 1'));
    expect(received).toMatchObject({
      kind: 'request',
      method: 'OPTIONS',
      statusCode: null,
      branch: 'z9hG4bKa',
      user: 'b',
      userAgent: 'phone 1',
    });
    expect(received.text.split('\r\n').slice(0, 2)).toEqual([
      `OPTIONS ${OWN} SIP/2.0`,
      'Via: SIP/2.0/UDP 10.0.0.5;branch=z9hG4bKa;received=192.0.2.7;rport=5062',
    ]);
  });

  it('does not believe what a peer writes there itself', () => {
    const forged = options().replace(';rport', ';received=203.0.113.1;rport=9;maddr=224.0.0.1');
    expect(read(forged).text).toContain('Via: SIP/2.0/UDP 10.0.0.5;branch=z9hG4bKa;received=192.0.2.7;rport=5062\r\n');
  });

  it('adds the port only where it is asked for, and on TCP, where it names the connection', () => {
    const plain = options().replace(';rport', '');
    expect(read(plain).text).toContain(';received=192.0.2.7\r\n');
    expect(read(plain, { ...SOURCE, protocol: 'TCP' }).text).toContain(';rport=5062\r\n');
  });

  it('puts each Via on a line of its own, and leaves quoted commas alone', () => {
    const two = options().replace(
      VIA,
      `${VIA}, SIP/2.0/TCP p;branch=z9hG4bKb;x="a,b"\r\nv: SIP/2.0/UDP q;branch=z9hG4bKc`,
    );
    expect(read(two).text.match(/^Via: .*$/gm)).toEqual([
      expect.stringContaining('10.0.0.5'),
      'Via: SIP/2.0/TCP p;branch=z9hG4bKb;x="a,b"',
      'Via: SIP/2.0/UDP q;branch=z9hG4bKc',
    ]);
  });

  it('makes no Via of the nothing between two commas', () => {
    const gaps = options().replace(VIA, `${VIA}, ,`);
    expect(read(gaps).text.match(/^Via: .*$/gm)).toEqual([
      'Via: SIP/2.0/UDP 10.0.0.5;branch=z9hG4bKa;received=192.0.2.7;rport=5062',
    ]);
  });

  it.each(['', '\\'])(
    'reads a Via with a quote that never ends once, however many there seem to begin in it (end "%s")',
    (end) => {
      const text = options().replace(VIA, `${VIA}, "${'\\"'.repeat(15_000)}${end}`);
      // Read again from each quote on, each of these takes half a second.
      for (let i = 0; i < 200; i++) expect(read(text).branch).toBe('z9hG4bKa');
    },
  );

  it('reads compact and folded headers', () => {
    const compact = message([
      'OPTIONS sip:b@h SIP/2.0',
      VIA,
      'f: <sip:a@h>',
      ' ;tag=1',
      't: <sip:b@h>',
      'i: c',
      'CSeq: 1 OPTIONS',
      'l: 0',
    ]);
    expect(read(compact).text).toContain('from: <sip:a@h> ;tag=1\r\nto: <sip:b@h>\r\ncall-id: c\r\n');
  });

  it('cuts the body at its length, in bytes', () => {
    const body = Buffer.from('grüße').toString('latin1');
    expect(
      read(
        message(['OPTIONS sip:b@h SIP/2.0', VIA, ...HEADERS, 'c: Text/Plain;a=B', 'Content-Length: 7'], `${body}rest`),
      ).text,
    ).toMatch(new RegExp(`content-type: text/plain;a=B\r\nContent-Length: 7\r\n\r\n${body}$`));
  });

  it('writes addresses so that every stack can read them', () => {
    const odd = options('Contact: <sip:12#3@10.0.0.5>')
      .replace('<sip:a@h>', 'tel:+1415')
      .replace('<sip:b@h>', '"B" <tel:+1;phone-context=x>');
    const { text } = read(odd);
    expect(text).toContain('from: <sip:+1415@192.0.2.7>;tag=1\r\nto: "B" <sip:+1@192.0.2.7>\r\n');
    expect(text).toContain('contact: <sip:12%233@10.0.0.5>\r\n');
  });

  it('takes the version in any case, and line ends before the first line', () => {
    const odd = options().replace('SIP/2.0\r\n', 'sip/2.0\r\n').replace('SIP/2.0/UDP', 'sip / 2.0 / udp');
    expect(read(`\r\n\r\n${odd}`).text.split('\r\n').slice(0, 2)).toEqual([
      `OPTIONS ${OWN} SIP/2.0`,
      'Via: SIP/2.0/udp 10.0.0.5;branch=z9hG4bKa;received=192.0.2.7;rport=5062',
    ]);
  });

  it('refuses another version with 505', () => {
    expect(() => read(options().replace('SIP/2.0\r\n', 'SIP/3.0\r\n'))).toThrow(
      expect.objectContaining({ statusCode: 505 }),
    );
  });

  it('reads answers', () => {
    const ok = message(['SIP/2.0 200 OK', VIA, ...HEADERS]);
    expect(read(ok)).toMatchObject({
      kind: 'response',
      method: 'OPTIONS',
      statusCode: 200,
      branch: 'z9hG4bKa',
      user: null,
    });
  });

  it.each([
    ['nothing', ''],
    ['no empty line', 'OPTIONS sip:b@h SIP/2.0\r\n'],
    ['another first line', options().replace('SIP/2.0\r\n', 'HTTP/1.1\r\n')],
    ['no Via', options().replace(`${VIA}\r\n`, '')],
    ['no From tag', options().replace(';tag=1', '')],
    ['two Call-IDs', options('Call-ID: d')],
    ['no To', options().replace('To: <sip:b@h>\r\n', '')],
    ['another method in CSeq', options().replace('1 OPTIONS', '1 INVITE')],
    ['a CSeq beyond bounds', options().replace('1 OPTIONS', '2147483648 OPTIONS')],
    ['a length beyond the end', options('Content-Length: 1')],
    ['a length that is none', options('Content-Length: x')],
    ['a header smuggled behind a bare line feed', options('Subject: a\nX: b')],
    ['a body of no kind', message(['OPTIONS sip:b@h SIP/2.0', VIA, ...HEADERS], 'x')],
    ['a line that is no header', options('hello')],
    ['two lengths', options('Content-Length: 0', 'Content-Length: 0')],
    ['a Request-URI in brackets', options().replace('sip:b@h', '<sip:b@h>')],
    ['a Request-URI with headers', options().replace('sip:b@h', 'sip:b@h?X=y')],
    ['a Request-URI that is none', options().replace('sip:b@h', 'bridge')],
    ['a NUL that no backslash stands before', options('Subject: a\0')],
    ['nothing between two semicolons of the Via', options().replace(';rport', ';;rport')],
    ['a Via with a port beyond bounds', options().replace('10.0.0.5', '10.0.0.5:65536')],
    ['a long Call-ID', options().replace('Call-ID: c', `Call-ID: ${'c'.repeat(257)}`)],
  ])('refuses %s', (_what, text) => expect(codeOf(text)).toBe('message_malformed'));

  it('refuses too many headers', () =>
    expect(codeOf(options(...Array.from({ length: 130 }, () => 'X: y')))).toBe('message_too_large'));

  it('refuses what is too long', () =>
    expect(codeOf(options(`X: ${'x'.repeat(SIP_MESSAGE_MAX_BYTES)}`))).toBe('message_too_large'));
});
