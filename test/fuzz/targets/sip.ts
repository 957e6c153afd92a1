import assert from 'node:assert/strict';
import { LoggerFactory, Parser } from 'sip.js/lib/core/index.js';
import { SipFramer } from '../../../src/carriers/sip/wire/framer.ts';
import { sipWeight } from '../../../src/carriers/sip/wire/parsing-cost.ts';
import { type ReceivedSip, receiveSip } from '../../../src/carriers/sip/wire/received-message.ts';
import { userOf } from '../../../src/carriers/sip/wire/uris.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { wireFixtures } from '../fixtures.ts';
import type { FuzzTarget } from '../fuzz.ts';

const OWN = 'sip:trunkline@198.51.100.1:5060';
const SOURCE = { protocol: 'UDP', address: '192.0.2.7', port: 5062 } as const;

const loggers = new LoggerFactory();
loggers.builtinEnabled = false;

function message(lines: readonly string[], body = ''): Buffer {
  return Buffer.from(`${[...lines, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`, 'latin1');
}

const NAMES = ['From: "A, B" <sip:+1%20a@h;user=phone>;tag=1', 'To: <tel:+14155550100>', 'Call-ID: a@b'];
const VIA = 'Via: SIP/2.0/UDP 10.0.0.5:5060;branch=z9hG4bKa;rport, SIP/2.0/TCP [::1];branch=z9hG4bKb;x="a,b"';

function read(text: string): ReceivedSip | null {
  try {
    return receiveSip(text, SOURCE, OWN);
  } catch (error) {
    assert(error instanceof TrunklineError, error as Error);
    return null;
  }
}

function viasIn({ text }: ReceivedSip): string[] {
  return text.split('\r\n').filter((line) => line.startsWith('Via: '));
}

/** What the stack's own parser throws is caught around it, where the message is dropped. */
function parse(text: string): void {
  try {
    Parser.parseMessage(text, loggers.getLogger('fuzz'));
  } catch {}
}

/** The messages in a stream, and at its end perhaps that nothing more can be read. */
function framesOf(stream: Buffer, pieceBytes: number): string[] {
  const framer = new SipFramer();
  const texts: string[] = [];
  for (let at = 0; at < stream.length; at += pieceBytes) {
    for (const frame of framer.push(stream.subarray(at, at + pieceBytes))) {
      if (frame.type !== 'ping') texts.push(frame.type === 'message' ? frame.text : frame.type);
    }
  }
  return texts;
}

/** One datagram, and the same bytes as a stream. */
export const target: FuzzTarget = {
  name: 'sip',
  seeds: [
    message(
      [
        'INVITE tel:+14155550100 SIP/2.0',
        VIA,
        ...NAMES,
        'CSeq: 1 INVITE',
        'm: <sip:a#b@10.0.0.5>',
        'c: application/sdp',
      ],
      'v=0\r\n',
    ),
    message([
      'SIP/2.0 200 OK',
      VIA,
      ...NAMES,
      'CSeq: 2 BYE',
      'Record-Route: <sip:p;lr>, <sip:q;lr>',
      'Contact: <sip:a@[::1]:5060>',
    ]),
    message([
      'SIP/2.0 401 Unauthorized',
      VIA,
      ...NAMES,
      'CSeq: 1 REGISTER',
      'WWW-Authenticate: Digest realm="a", nonce="b", qop="auth"',
    ]),
    message(['OPTIONS sip:a@h SIP/2.0', VIA, 'f: <sip:a@h>', '\t;tag=1', 't: sip:b@h', 'i: c', 'CSeq: 1 OPTIONS']),
    ...wireFixtures('sip', '.sip'),
  ],
  words: [
    '\r\n',
    '\r\n\r\n',
    ' ',
    ',',
    ';',
    '"',
    '<',
    '>',
    'Via: ',
    'v:',
    'z9hG4bK',
    'tag=',
    'sip:',
    'tel:',
    'Content-Length: ',
    'received=',
    '%zz',
  ],
  run(input) {
    const bytes = Buffer.from(input);
    const text = bytes.toString('latin1');
    userOf(text);
    assert(sipWeight(text) >= text.length / 8, 'lighter than its bytes');
    const received = read(text);
    if (received !== null) {
      if (received.kind === 'request')
        assert(/^Via: .*;received=192\.0\.2\.7(?:;rport=5062)?\r$/m.test(received.text), 'no source noted');
      // Read once more it is the same message on the same way: nothing in it can be understood as two.
      const again = receiveSip(received.text, SOURCE, OWN);
      assert.deepEqual(
        [again.method, again.transaction, again.statusCode],
        [received.method, received.transaction, received.statusCode],
      );
      assert.deepEqual(viasIn(again), viasIn(received));
      parse(received.text);
    }
    assert.deepEqual(framesOf(bytes, 7), framesOf(bytes, Math.max(bytes.length, 1)));
  },
};
