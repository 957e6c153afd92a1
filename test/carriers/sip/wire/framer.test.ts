import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SipFrame, SipFramer } from '../../../../src/carriers/sip/wire/framer.ts';
import { SIP_MESSAGE_MAX_BYTES } from '../../../../src/carriers/sip/wire/headers.ts';
import { HEADERS, message, options, VIA } from './messages.ts';

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
