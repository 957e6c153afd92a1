/** Ogg (RFC 3533) with Opus in it (RFC 7845), as far as a file that promises much needs it. */

const HEAD_BYTES = 27;
const PACKETS_MAX = 255;
/** Two bytes that are 120 ms: six frames of 20 ms (RFC 6716 §3.2.5), none of which has a byte. */
const LONG_SILENCE = Uint8Array.of(0x0b, 6);

/** An Opus file of `pages` pages of 30 s of silence with `channels` channels, all of them the same stream. */
export function opusOfSilence(pages: number, channels: number): Uint8Array {
  const head = Uint8Array.from([
    ...ascii('OpusHead'),
    1,
    channels,
    0,
    0,
    0x80,
    0xbb,
    0,
    0,
    0,
    0,
    255,
    1,
    0,
    ...Array(channels).fill(0),
  ]);
  const tags = Uint8Array.from([...ascii('OpusTags'), 0, 0, 0, 0, 0, 0, 0, 0]);
  const silence = Array.from({ length: PACKETS_MAX }, () => LONG_SILENCE);
  const bodies = [[head], [tags], ...Array.from({ length: pages }, () => silence)];
  return Buffer.concat(bodies.map((packets, number) => page(packets, number)));
}

function page(packets: readonly Uint8Array[], number: number): Uint8Array {
  const lacing = packets.flatMap(({ length }) => [...Array(Math.floor(length / 255)).fill(255), length % 255]);
  const bytes = new Uint8Array(HEAD_BYTES + lacing.length + packets.reduce((sum, { length }) => sum + length, 0));
  const view = new DataView(bytes.buffer);
  bytes.set(ascii('OggS'));
  bytes[5] = number === 0 ? 2 : 0;
  view.setBigUint64(6, BigInt(Math.max(number - 1, 0) * PACKETS_MAX * 5760), true);
  view.setUint32(14, 1, true);
  view.setUint32(18, number, true);
  bytes[26] = lacing.length;
  bytes.set(lacing, HEAD_BYTES);
  let at = HEAD_BYTES + lacing.length;
  for (const packet of packets) {
    bytes.set(packet, at);
    at += packet.length;
  }
  view.setUint32(22, checksum(bytes), true);
  return bytes;
}

function checksum(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}

function ascii(text: string): number[] {
  return [...text].map((char) => char.charCodeAt(0));
}
