import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parseRtcp,
  Reception,
  type ReceptionReport,
  writeReport,
} from '../../../../../src/carriers/sip/wire/rtp/rtcp.ts';

const BLOCK: ReceptionReport = {
  ssrc: 0x1111_1111,
  fractionLost: 25,
  lost: 12,
  highestSequence: 0x0001_0002,
  jitter: 33,
  lastSenderReport: 0xaabb_ccdd,
  delaySinceLast: 65_536,
};

describe('a report', () => {
  it('of a sender has what it sent, what it received, and its name', () => {
    const sender = { wallMs: Date.UTC(2026, 0, 1) + 500, timestamp: 1600, packets: 10, bytes: 1600 };
    const bytes = writeReport({ ssrc: 7, cname: 'someone', sender, reception: BLOCK, goodbye: false });
    expect(Buffer.from(bytes).toString('hex')).toBe(
      [
        '81c8000c00000007',
        'ed00378080000000000006400000000a00000640',
        '111111111900000c0001000200000021aabbccdd00010000',
        '81ca0004000000070107736f6d656f6e65000000',
      ].join(''),
    );
    expect(parseRtcp(bytes)).toEqual([{ type: 'sender', ssrc: 7, ntpMiddle: 0x3780_8000, reports: [BLOCK] }]);
  });

  it('of somebody who only receives says goodbye at the end', () => {
    const bytes = writeReport({ ssrc: 7, cname: 'x', sender: null, reception: null, goodbye: true });
    expect(parseRtcp(bytes)).toEqual([
      { type: 'receiver', ssrc: 7, reports: [] },
      { type: 'goodbye', ssrcs: [7] },
    ]);
  });

  it('bears more packets than were expected', () => {
    const reception = { ...BLOCK, lost: -3 };
    const bytes = writeReport({ ssrc: 7, cname: 'x', sender: null, reception, goodbye: false });
    expect(parseRtcp(bytes)).toEqual([{ type: 'receiver', ssrc: 7, reports: [reception] }]);
  });

  it.each([
    ['nothing', ''],
    ['RTP', '800000010000000200000003'],
    ['a length beyond the end', '80c9000200000007'],
    ['another version', '40c9000100000007'],
    ['a rest', '80c900010000000700'],
  ])('is none: %s', (_, text) => {
    expect(parseRtcp(Buffer.from(text, 'hex'))).toBeNull();
  });

  it('promises no more than is there', () => {
    expect(parseRtcp(Buffer.from('9fc90001000000079fcb0001000000051fcb'.slice(0, 32), 'hex'))).toEqual([
      { type: 'receiver', ssrc: 7, reports: [] },
      { type: 'goodbye', ssrcs: [5] },
    ]);
  });

  it('is any bytes, or none, and never an error', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void parseRtcp(bytes)));
  });

  it('keeps its words whole whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (cname) => {
        const bytes = writeReport({ ssrc: 7, cname, sender: null, reception: BLOCK, goodbye: true });
        expect(bytes.length % 4).toBe(0);
        expect(parseRtcp(bytes)).toHaveLength(2);
      }),
    );
  });
});

describe('what was received', () => {
  it('is counted with its losses, over all and since the last report', () => {
    const reception = new Reception(9, 8000);
    for (const sequence of [10, 11, 13, 14]) reception.add(sequence, sequence * 160, sequence * 20);
    expect(reception.report(null)).toMatchObject({
      ssrc: 9,
      lost: 1,
      fractionLost: 51,
      highestSequence: 14,
      jitter: 0,
    });
    for (const sequence of [15, 16]) reception.add(sequence, sequence * 160, sequence * 20);
    expect(reception.report({ ntpMiddle: 5, agoMs: 500 })).toMatchObject({
      lost: 1,
      fractionLost: 0,
      lastSenderReport: 5,
      delaySinceLast: 32_768,
    });
  });

  it('counts what comes late, and twice', () => {
    const reception = new Reception(9, 8000);
    for (const sequence of [1, 3, 2, 2, 2]) reception.add(sequence, sequence * 160, sequence * 20);
    expect(reception.report(null)).toMatchObject({ lost: -2, fractionLost: 0 });
  });

  it('has the jitter of RFC 3550', () => {
    const reception = new Reception(9, 8000);
    for (const [i, arrivalMs] of [0, 20, 44, 60].entries()) reception.add(i, i * 160, arrivalMs);
    // 0, then |32| / 16, then that and (|−32| − 2) / 16.
    expect(reception.jitterMs).toBeCloseTo((2 + 30 / 16) / 8);
  });
});
