import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { type SipFrame, SipFramer } from '../../../src/protocols/sip/framer.ts';
import {
  describeSip,
  fitSip,
  glanceSip,
  hostOf,
  isScanner,
  receiveSip,
  SIP_MESSAGE_MAX_BYTES,
  userOf,
} from '../../../src/protocols/sip/sip.ts';

const OWN = 'sip:trunkline@198.51.100.1';
const SOURCE = { protocol: 'UDP', address: '192.0.2.7', port: 5062 } as const;
const VIA = 'Via: SIP/2.0/UDP 10.0.0.5;branch=z9hG4bKa;rport';
const HEADERS = ['From: <sip:a@h>;tag=1', 'To: <sip:b@h>', 'Call-ID: c', 'CSeq: 1 OPTIONS'];

function message(lines: readonly string[], body = ''): string {
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

const options = (...more: string[]) => message(['OPTIONS sip:b@h SIP/2.0', VIA, ...HEADERS, ...more]);
const read = (text: string, source: Parameters<typeof receiveSip>[1] = SOURCE) => receiveSip(text, source, OWN);
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

describe('userOf', () => {
  it.each([
    ['sip:+14155550100@h', '+14155550100'],
    ['"A <b>" <sip:a%20b;phone-context=x:pw@h>;tag=1', null],
    ['"A" <sip:a%20b;phone-context=x@h>;tag=1', 'a b'],
    ['<sips:a:pw@[::1]>', 'a'],
    ['tel:+1;phone-context=x', '+1'],
    ['sip:h', null],
    ['sip:@h', null],
    ['sip:%zz@h', '%zz'],
    ['sip:a%00b%0A@h', 'a%00b%0A'],
    ['mailto:a@b', null],
  ])('of %s is %s', (address, user) => expect(userOf(address)).toBe(user));
});

describe('describeSip', () => {
  it('sends a request where its route leads, else where it is for', () => {
    const ack = (route: string) =>
      `ACK sip:a@192.0.2.1:5070 SIP/2.0\r\n${route}Via: SIP/2.0/UDP h;branch=z9hG4bKx\r\n\r\n`;
    expect(describeSip(ack(''))).toEqual({
      ...{ kind: 'request', method: 'ACK', statusCode: null, transaction: 'z9hG4bKx' },
      destination: { host: '192.0.2.1', port: 5070 },
    });
    expect(describeSip(ack('Route: <sip:proxy.example.com;lr>, <sip:b>\r\n')).destination).toEqual({
      host: 'proxy.example.com',
      port: 5060,
    });
  });

  it('sends an answer back where its request came from', () => {
    const ok = (via: string) => describeSip(`SIP/2.0 200 OK\r\nVia: ${via}\r\nCSeq: 1 BYE\r\n\r\n`);
    expect(ok('SIP/2.0/UDP 10.0.0.5:5080;branch=z9hG4bKx;received=192.0.2.7;rport=4000')).toMatchObject({
      ...{ kind: 'response', method: 'BYE', statusCode: 200 },
      destination: { host: '192.0.2.7', port: 4000 },
    });
    expect(ok('SIP/2.0/UDP [::1]:5080;branch=z9hG4bKx;received=192.0.2.7').destination).toEqual({
      host: '192.0.2.7',
      port: 5080,
    });
    expect(ok('SIP/2.0/UDP 10.0.0.5;branch=z9hG4bKx;received=192.0.2.7').destination).toEqual({
      host: '192.0.2.7',
      port: 5060,
    });
    expect(ok('SIP/2.0/UDP 10.0.0.5;branch=z9hG4bKx').destination).toBeNull();
  });
});

describe('hostOf', () => {
  it.each([
    ['sip:pbx.example.com', { host: 'pbx.example.com', port: 5060 }],
    ['sip:a@[2001:db8::1]:5070;transport=tcp', { host: '2001:db8::1', port: 5070 }],
    ['tel:+1', null],
    ['', null],
  ])('of %s', (uri, host) => expect(hostOf(uri)).toEqual(host));
});

describe('glanceSip', () => {
  it('finds the names of a request, however they are written', () => {
    const names = { kind: 'request', method: 'BYE', branch: 'z9hG4bKa', callId: 'c@h', fromTag: '1', toTag: 'ours' };
    const long = [
      'BYE sip:b@h SIP/2.0',
      VIA,
      'From: "A;tag=x" <sip:a@h>;tag=1',
      'To: <sip:b@h>;tag=ours',
      'Call-ID: c@h',
      'CSeq: 2 BYE',
    ];
    const short = [
      'BYE sip:b@h SIP/2.0',
      'v:SIP/2.0/UDP h; branch = z9hG4bKa',
      'f : <sip:a@h>; tag=1;x=y',
      't:<sip:b@h> ;tag = ours',
      'i:c@h',
      'CSEQ:2 BYE',
    ];
    expect(glanceSip(message(long))).toEqual(names);
    expect(glanceSip(message(short))).toEqual(names);
  });

  it('finds nothing where nothing is, and tells an answer', () => {
    expect(glanceSip('SIP/2.0 200 OK\r\n\r\n')).toEqual({
      kind: 'response',
      method: '',
      branch: '',
      callId: '',
      fromTag: '',
      toTag: '',
    });
    expect(glanceSip(options())).toMatchObject({ toTag: '' });
  });
});

describe('fitSip', () => {
  const names = [
    'Via: SIP/2.0/UDP h;branch=z9hG4bKa',
    'From: <sip:a@h>;tag=1',
    'To: <sip:b@h>;tag=2',
    'CSeq: 1 OPTIONS',
    'Call-ID: c',
  ];
  const whole = message([
    'SIP/2.0 503 Service Unavailable',
    ...names,
    'User-Agent: T',
    'Retry-After: 10',
    'Allow: INVITE',
    'Content-Length: 0',
  ]);
  const lean = message(['SIP/2.0 503 Service Unavailable', ...names, 'Retry-After: 10']);
  const compact = lean.replace('Via: ', 'v:').replace('From: ', 'f:').replace('To: ', 't:').replace('Call-ID: ', 'i:');
  const bare = compact.replace('Service Unavailable', '');

  it.each([whole, lean, compact, bare])('leaves out no more than it must', (text) => {
    expect(fitSip(whole, text.length)).toBe(text);
  });

  it('gives up where not even the least goes', () => expect(fitSip(whole, bare.length - 1)).toBeNull());

  it('makes answers that are still read', () => {
    expect(describeSip(bare)).toMatchObject({ kind: 'response', statusCode: 503 });
    expect(read(bare.replace('h;branch', 'h;rport;branch'))).toMatchObject({ statusCode: 503, method: 'OPTIONS' });
  });
});

describe('isScanner', () => {
  it.each(['friendly-scanner', 'sipcli/v1.8', 'SIPVicious'])('knows %s', (name) => expect(isScanner(name)).toBe(true));
  it.each(['Asterisk PBX 22', 'Zoiper rv2.10', 'sipp', ''])('lets %s be', (name) =>
    expect(isScanner(name)).toBe(false),
  );
});

describe('SipFramer', () => {
  const first = options('Content-Length: 0');
  const second = message(['OPTIONS sip:b@h SIP/2.0', VIA, ...HEADERS, 'c: text/plain', 'l: 5'], 'hello');

  it('cuts a stream into its messages however it arrives', () => {
    const stream = Buffer.from(`${first}\r\n\r\n${second}${first}`, 'latin1');
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length)), (cuts) => {
        const framer = new SipFramer();
        const edges = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
        const frames: SipFrame[] = edges.flatMap((edge, i) => framer.push(stream.subarray(edges[i - 1] ?? 0, edge)));
        expect(frames.flatMap((frame) => (frame.type === 'message' ? [frame.text] : []))).toEqual([
          first,
          second,
          first,
        ]);
      }),
    );
  });

  it('reads the head of a message once, in however small pieces the body comes', () => {
    const framer = new SipFramer();
    const bodyBytes = 12_000;
    const head = message([
      'OPTIONS sip:b@h SIP/2.0',
      ...Array<string>(3300).fill('a: b'),
      `Content-Length: ${bodyBytes}`,
    ]);
    const startedMs = performance.now();
    expect(framer.push(Buffer.from(head))).toEqual([]);
    const piece = Buffer.from('x');
    let frames = 0;
    for (let i = 1; i < bodyBytes; i++) frames += framer.push(piece).length;
    expect(frames).toBe(0);
    expect(framer.push(Buffer.from('x'))).toEqual([{ type: 'message', text: head + 'x'.repeat(bodyBytes) }]);
    // Once for each piece it would be three seconds.
    expect(performance.now() - startedMs).toBeLessThan(1000);
  });

  it('tells a sign of life', () => expect(new SipFramer().push(Buffer.from('\r\n\r\n'))).toEqual([{ type: 'ping' }]));

  const last = (bytes: Buffer) => new SipFramer().push(bytes).at(-1);
  const reasonOf = (frame: SipFrame | undefined) => (frame?.type === 'fault' ? frame.fault.message : null);

  it.each([
    ['without a length', options(), 'SIP: got no Content-Length'],
    ['with a length below 0', options('Content-Length: -1'), 'SIP: got a Content-Length that cannot be read'],
    ['with two lengths', options('Content-Length: 0', 'l: 0'), 'SIP: got 2 headers content-length'],
    ['that says it is too long', options('Content-Length: 40000'), 'SIP: got a longer message'],
    ['that is too long', 'x'.repeat(SIP_MESSAGE_MAX_BYTES + 1), 'SIP: got a longer message'],
  ])('gives up at a message %s, and gives out what came of it', (_what, text, reason) => {
    const frame = last(Buffer.from(text));
    expect(reasonOf(frame)).toContain(reason);
    expect(frame).toMatchObject({ text: text.replace('\r\n\r\n', '').slice(0, SIP_MESSAGE_MAX_BYTES) });
  });

  it('has nothing more behind that, and what was before it all the same', () => {
    const framer = new SipFramer();
    const types = framer.push(Buffer.from(`${first}${options()}${first}`)).map(({ type }) => type);
    expect(types).toEqual(['message', 'fault']);
    expect([framer.push(Buffer.from(first)), framer.midway]).toEqual([[], false]);
  });

  it('reads a folded length', () => {
    const folded = options('Content-Length:\r\n 0');
    expect(new SipFramer().push(Buffer.from(folded))).toEqual([{ type: 'message', text: folded }]);
  });
});
