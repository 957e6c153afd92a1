/** Sound as Opus, for tests: packets, and Ogg as RFC 7845 has it. */
import { OpusEncoder } from '../../src/audio/opus.ts';
import { msToSamples } from '../../src/foundation/units.ts';

const RATE_HZ = 16_000;
const PACKET_MS = 20;
const SEGMENT_MAX_BYTES = 255;
const PACKETS_PER_PAGE = 5;

/** Packets of 20 ms of samples at 16 kHz. */
export function opusPackets(samples: Int16Array): Uint8Array[] {
  const encoder = new OpusEncoder({
    rateHz: RATE_HZ,
    bitsPerSecond: 28_000,
    complexity: 5,
    lossPercent: 0,
    dtx: false,
    constantBitRate: false,
    playbackHz: RATE_HZ,
  });
  const length = msToSamples(PACKET_MS, RATE_HZ);
  const packets: Uint8Array[] = [];
  for (let at = 0; at + length <= samples.length; at += length)
    packets.push(encoder.encode(samples.subarray(at, at + length)));
  encoder.close();
  return packets;
}

/** A page of Ogg with whole packets. */
export function oggPage(packets: readonly Uint8Array[], { flags = 0, serial = 7 } = {}): Uint8Array {
  const segments = packets.flatMap(({ length }) => [
    ...Array<number>(Math.floor(length / SEGMENT_MAX_BYTES)).fill(SEGMENT_MAX_BYTES),
    length % SEGMENT_MAX_BYTES,
  ]);
  const head = Buffer.alloc(27);
  head.write('OggS');
  head[5] = flags;
  head.writeUInt32LE(serial, 14);
  head[26] = segments.length;
  return Buffer.concat([head, Uint8Array.from(segments), ...packets]);
}

/** The first packet of a stream. */
export function opusHead(channels: number): Uint8Array {
  const head = Buffer.alloc(19);
  head.write('OpusHead');
  head[8] = 1;
  head[9] = channels;
  head.writeUInt32LE(48_000, 12);
  return head;
}

/** A file of these packets. */
export function oggFile(packets: readonly Uint8Array[], channels = 1): Uint8Array {
  const tags = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(600)]);
  const pages = [oggPage([opusHead(channels)], { flags: 2 }), oggPage([tags])];
  for (let at = 0; at < packets.length; at += PACKETS_PER_PAGE)
    pages.push(oggPage(packets.slice(at, at + PACKETS_PER_PAGE)));
  return Buffer.concat(pages);
}
