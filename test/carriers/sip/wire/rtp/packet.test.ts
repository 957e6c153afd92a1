import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRtp, type RtpPacket, writeRtp } from '../../../../../src/carriers/sip/wire/rtp/packet.ts';

const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex');

const PACKET: RtpPacket = {
  marker: true,
  payloadType: 8,
  sequence: 0xfffe,
  timestamp: 0xffff_ff60,
  ssrc: 0xdead_beef,
  payload: hex('d5 d5 55'),
};
const BYTES = hex('80 88 fffe ffffff60 deadbeef d5d555');

describe('an RTP packet', () => {
  it('is read', () => {
    expect(parseRtp(BYTES)).toEqual(PACKET);
  });

  it('is written', () => {
    expect(writeRtp(PACKET)).toEqual(new Uint8Array(BYTES));
  });

  it('is read behind contributing sources, an extension and before padding', () => {
    const bytes = hex('b2 08 0001 00000002 00000003 11111111 22222222 bede0001 aabbccdd  d5d5 00 00 03');
    expect(parseRtp(bytes)).toMatchObject({ marker: false, sequence: 1, payload: hex('d5 d5') });
  });

  it('may be empty', () => {
    expect(parseRtp(hex('80 00 0001 00000002 00000003'))?.payload).toHaveLength(0);
  });

  it.each([
    ['nothing', ''],
    ['a header cut off', '80 00 0001 00000002 000000'],
    ['another version', '40 00 0001 00000002 00000003'],
    ['contributing sources that are not there', '8f 00 0001 00000002 00000003 00000004'],
    ['an extension that is not there', '90 00 0001 00000002 00000003 be'],
    ['an extension that is too long', '90 00 0001 00000002 00000003 bede0002 00000001'],
    ['more padding than packet', 'a0 00 0001 00000002 00000003 ff05'],
    ['padding of no length', 'a0 00 0001 00000002 00000003 ff00'],
  ])('is none: %s', (_, text) => {
    expect(parseRtp(hex(text))).toBeNull();
  });

  it('comes out as it went in', () => {
    const packets = fc.record({
      marker: fc.boolean(),
      payloadType: fc.integer({ min: 0, max: 127 }),
      sequence: fc.integer({ min: 0, max: 0xffff }),
      timestamp: fc.integer({ min: 0, max: 0xffff_ffff }),
      ssrc: fc.integer({ min: 0, max: 0xffff_ffff }),
      payload: fc.uint8Array({ maxLength: 300 }),
    });
    fc.assert(fc.property(packets, (packet) => void expect(parseRtp(writeRtp(packet))).toEqual(packet)));
  });

  it('is any bytes, or none, and never an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const packet = parseRtp(bytes);
        if (packet !== null) expect(packet.payload.length).toBeLessThanOrEqual(bytes.length - 12);
      }),
    );
  });
});
