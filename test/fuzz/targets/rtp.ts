import assert from 'node:assert/strict';
import { decodeG711 } from '../../../src/audio/g711.ts';
import { Timeline } from '../../../src/audio/timeline.ts';
import { type MediaListener, RtpReceiver } from '../../../src/carriers/sip/rtp/receiver.ts';
import { parseRtp, writeRtp } from '../../../src/carriers/sip/wire/rtp/packet.ts';
import { parseRtcp } from '../../../src/carriers/sip/wire/rtp/rtcp.ts';
import { MULAW_8K } from '../../../src/foundation/units.ts';
import { remoteMedia } from '../../carriers/sip/rtp/media.ts';
import type { FuzzTarget } from '../fuzz.ts';

const REMOTE = remoteMedia({ rtcpPort: null });
const GAP_MAX_SAMPLES = 8000;

/** Datagrams as bytes: each behind its length (16 bits) and the ms since the one before (8 bits). */
function datagrams(...all: readonly { datagram: Uint8Array; afterMs?: number }[]): Uint8Array {
  return Buffer.concat(
    all.flatMap(({ datagram, afterMs = 20 }) => [
      Buffer.of(datagram.length >> 8, datagram.length & 0xff, afterMs),
      datagram,
    ]),
  );
}

const packet = (index: number, changes = {}) => ({
  datagram: writeRtp({
    marker: false,
    payloadType: 0,
    sequence: (65_530 + index) & 0xffff,
    timestamp: (2 ** 32 - 400 + index * 160) % 2 ** 32,
    ssrc: 7,
    payload: new Uint8Array(20).fill(index),
    ...changes,
  }),
});
const stream = Array.from({ length: 12 }, (_, i) => packet(i));

/**
 * Whatever comes: sequences and times are numbers, a key is a key, no gap that a call would fill is too long, and what
 * is heard of a datagram is not longer than it.
 */
export const target: FuzzTarget = {
  name: 'rtp',
  seeds: [
    datagrams(...stream),
    datagrams(...stream.map((each, i) => stream[i ^ 1] ?? each)),
    datagrams(...stream.filter((_, i) => i % 5 !== 3), ...Array.from({ length: 4 }, (_, i) => packet(i, { ssrc: 9 }))),
    datagrams(
      packet(0),
      packet(1, { payloadType: 101, payload: Uint8Array.of(5, 0x0a, 0, 160) }),
      packet(2, { payloadType: 13, payload: Uint8Array.of(60) }),
      packet(40),
    ),
    datagrams({
      datagram: Buffer.from(
        '81c8000c00000007ed00378080000000000006400000000a00000640111111111900000c0001000200000021aabbccdd00010000',
        'hex',
      ),
    }),
  ],
  run(input) {
    const timeline = new Timeline({ rateHz: 8000, reorderMs: 60, gapMaxMs: 1000 });
    let heardBytes = 0;
    const listener: MediaListener = {
      receiveAudio({ bytes, atMs, sequence }) {
        assert(Number.isFinite(atMs) && Number.isInteger(sequence), `time ${atMs}, sequence ${sequence}`);
        heardBytes += bytes.length;
        for (const { length } of timeline.push({ samples: decodeG711(bytes, MULAW_8K), atMs, sequence }))
          assert(length <= Math.max(GAP_MAX_SAMPLES, bytes.length, 65_535), `a stretch of ${length} samples`);
      },
      receiveDigit: (digit) => assert.match(digit, /^[0-9*#A-D]$/),
    };
    const counter = {
      count: ({ sequence, timestamp }: { readonly sequence: number; readonly timestamp: number }) =>
        assert(Number.isInteger(sequence) && Number.isInteger(timestamp)),
    };
    const receiver = new RtpReceiver({ codec: MULAW_8K, remote: REMOTE, listener, counter });
    let nowMs = 0;
    let silentMs = 0;
    for (let at = 0; at + 3 <= input.length; ) {
      const length = ((input[at] ?? 0) << 8) | (input[at + 1] ?? 0);
      const datagram = input.subarray(at + 3, at + 3 + length);
      const waitMs = input[at + 2] ?? 0;
      nowMs += waitMs;
      if (receiver.isSilent) silentMs += waitMs;
      receiver.fillSilence(nowMs);
      parseRtcp(datagram);
      const parsed = parseRtp(datagram);
      if (parsed !== null) receiver.receive(parsed, nowMs);
      at += 3 + datagram.length;
    }
    assert(heardBytes <= input.length + silentMs * 8, `${heardBytes} bytes heard of ${input.length}`);
  },
};
