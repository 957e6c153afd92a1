/** What tests of RTP are made of. */

import type { RemoteMedia } from '../../../../src/carriers/sip/wire/offer-answer.ts';
import type { RtpPacket } from '../../../../src/carriers/sip/wire/rtp/packet.ts';
import { RTP_FORMATS } from '../../../../src/carriers/sip/wire/rtp-codecs.ts';

/** An agreement with a phone at 192.0.2.1:4000. */
export function remoteMedia(changes: Partial<RemoteMedia> = {}): RemoteMedia {
  return {
    address: '192.0.2.1',
    port: 4000,
    rtcpPort: 4001,
    payloadType: 0,
    format: RTP_FORMATS.mulaw,
    parameters: new Map(),
    ptimeMs: 20,
    events: { payloadType: 101, clockHz: 8000 },
    comfortNoise: false,
    sends: true,
    receives: true,
    srtp: null,
    ...changes,
  };
}

/** Packet number `index` of a stream: 20 ms of µ-law that are all `index`. Counters wrap. */
export function packetOf(index: number, changes: Partial<RtpPacket> = {}): RtpPacket {
  return {
    marker: false,
    payloadType: 0,
    sequence: (1000 + index) & 0xffff,
    timestamp: (50_000 + index * 160) % 2 ** 32,
    ssrc: 0xabcd,
    payload: new Uint8Array(160).fill(index),
    ...changes,
  };
}
