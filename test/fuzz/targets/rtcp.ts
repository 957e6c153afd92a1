import assert from 'node:assert/strict';
import { parseRtcp, writeReport } from '../../../src/carriers/sip/wire/rtp/rtcp.ts';
import type { FuzzTarget } from '../fuzz.ts';

const RECEPTION = {
  ssrc: 2,
  fractionLost: 12,
  lost: -3,
  highestSequence: 70_000,
  jitter: 8,
  lastSenderReport: 7,
  delaySinceLast: 65_536,
};
const SENDER = { wallMs: 1_795_240_043_000, timestamp: 160, packets: 50, bytes: 8000 };

/** A compound datagram: no error, and no more reports than the bytes have room for. */
export const target: FuzzTarget = {
  name: 'rtcp',
  seeds: [
    writeReport({ ssrc: 1, cname: 'a', sender: SENDER, reception: RECEPTION, goodbye: false }),
    writeReport({ ssrc: 1, cname: 'phone', sender: null, reception: RECEPTION, goodbye: true }),
    writeReport({ ssrc: 1, cname: '', sender: null, reception: null, goodbye: false }),
  ],
  words: ['\u0081\u00c8', '\u0081\u00c9', '\u0081\u00cb', '\u009f\u00c9\u0000\u0001', '\u0000\u0000'],
  run(input) {
    const packets = parseRtcp(input) ?? [];
    const reports = packets.flatMap((packet) => (packet.type === 'goodbye' ? [] : packet.reports));
    const names = packets.flatMap((packet) => (packet.type === 'goodbye' ? packet.ssrcs : []));
    assert(24 * reports.length + 4 * names.length + 4 * packets.length <= input.length, 'more than was there');
    for (const { fractionLost, lost } of reports) assert(fractionLost < 256 && Math.abs(lost) <= 2 ** 23);
    for (const ssrc of names) assert(Number.isInteger(ssrc) && ssrc >= 0);
  },
};
