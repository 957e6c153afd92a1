/** FLAC by the format's description (RFC 9639), as far as silence needs it. */

const BLOCK_SAMPLES = 65_535;
const RATE_HZ = 16_000;
/** 16 kHz (0101), mono, 16 bits. */
const BLOCK_AND_RATE = 0x75;
const CHANNEL_AND_BITS = 0x08;

/**
 * A FLAC file of `seconds` of silence: a dozen bytes for every four seconds. Its header says that it is at `claimedHz`.
 */
export function flacOfSilence(seconds: number, claimedHz = RATE_HZ): Uint8Array {
  const blocks = Math.ceil((seconds * RATE_HZ) / BLOCK_SAMPLES);
  const parts = [...new TextEncoder().encode('fLaC'), 0x80, 0, 0, 34, ...streamInfo(blocks, claimedHz)];
  for (let block = 0; block < blocks; block++) parts.push(...frame(block));
  return Uint8Array.from(parts);
}

function streamInfo(blocks: number, rateHz: number): number[] {
  const info = new DataView(new ArrayBuffer(34));
  info.setUint16(0, BLOCK_SAMPLES);
  info.setUint16(2, BLOCK_SAMPLES);
  const total = BigInt(blocks * BLOCK_SAMPLES);
  info.setBigUint64(10, (BigInt(rateHz) << 44n) | (0n << 41n) | (15n << 36n) | total);
  return [...new Uint8Array(info.buffer)];
}

function frame(number: number): number[] {
  const size = BLOCK_SAMPLES - 1;
  const header = [0xff, 0xf8, BLOCK_AND_RATE, CHANNEL_AND_BITS, ...coded(number), size >> 8, size & 0xff];
  const body = [...header, crc8(header), 0, 0, 0];
  const check = crc16(body);
  return [...body, check >> 8, check & 0xff];
}

/** Frame numbers are written as UTF-8 writes characters. */
function coded(number: number): number[] {
  return [...new TextEncoder().encode(String.fromCodePoint(number))];
}

function crc8(bytes: readonly number[]): number {
  return bytes.reduce((crc, byte) => shift(crc ^ byte, 8, 0x07, 0xff), 0);
}

function crc16(bytes: readonly number[]): number {
  return bytes.reduce((crc, byte) => shift(crc ^ (byte << 8), 16, 0x8005, 0xffff), 0);
}

function shift(value: number, width: number, polynomial: number, mask: number): number {
  let crc = value;
  for (let bit = 0; bit < 8; bit++)
    crc = crc & (1 << (width - 1)) ? ((crc << 1) ^ polynomial) & mask : (crc << 1) & mask;
  return crc;
}
