import assert from 'node:assert/strict';
import { payloadDecoder } from '../../../src/carriers/sip/wire/rtp/payload-codecs.ts';
import { RTP_FORMATS } from '../../../src/carriers/sip/wire/rtp-codecs.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** 120 ms of 16 kHz: no packet of Opus is longer. */
const OPUS_SAMPLES_MAX = 1920;
/** Cuts the input into packets; the first byte of each says how long it is. */
function packetsIn(input: Uint8Array): Uint8Array[] {
  const packets: Uint8Array[] = [];
  for (let at = 0; at < input.length; at += 1 + (input[at] as number))
    packets.push(input.subarray(at + 1, at + 1 + (input[at] as number)));
  return packets;
}

/** Whatever comes in packets gives as much sound as its codec allows, and no error. */
export const target: FuzzTarget = {
  name: 'rtp-payloads',
  seeds: [
    Uint8Array.of(3, 0xfc, 0xff, 0xfe, 1, 0x48, 2, 0x08, 0x0b),
    Uint8Array.of(6, 0x48, 0x83, 0x10, 0x20, 0x30, 0x40, 8, 0x4b, 0x41, 0x02, 0x05, 0x55, 0xaa, 0x55, 0xaa),
    Uint8Array.of(5, 0x9b, 0xbf, 0xff, 0xff, 0xff, 4, 0x03, 0x00, 0x01, 0x02),
  ],
  words: ['\x48', '\x4b', '\x7b', '\x9b', '\xfc', '\xff\xff'],
  run(input) {
    const packets = packetsIn(input);
    for (const format of Object.values(RTP_FORMATS)) {
      const decoder = payloadDecoder(format);
      for (const packet of packets) {
        const samples = decoder.decode(packet);
        if (format.name === 'opus') assert(samples.length <= OPUS_SAMPLES_MAX, `${samples.length} samples`);
        else assert.equal(samples.length, packet.length * (format.name === 'g722' ? 2 : 1));
        const concealed = decoder.conceal?.(packet.length, packet).length ?? 0;
        assert(concealed <= OPUS_SAMPLES_MAX, `${concealed} samples in place of lost ones`);
      }
      decoder.close();
    }
  },
};
