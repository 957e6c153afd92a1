import { describe, expect, it } from 'vitest';
import { OpusDecoder, OpusEncoder, type OpusEncoderOptions } from '../../src/audio/opus.ts';
import { energyAt } from '../helpers/tones.ts';

const RATE_HZ = 16_000;
const FRAME = 320;

function encoder(changes: Partial<OpusEncoderOptions> = {}): OpusEncoder {
  const options = { bitsPerSecond: 28_000, complexity: 5, lossPercent: 0, dtx: false, constantBitRate: false };
  return new OpusEncoder({ rateHz: RATE_HZ, playbackHz: RATE_HZ, ...options, ...changes });
}

/** A buzz with harmonics up to 6 kHz, as voices have them, that swells and fades. */
function voice(frames: number): Int16Array {
  return Int16Array.from({ length: frames * FRAME }, (_, i) => {
    let sum = 0;
    for (let k = 1; k <= 40; k++) sum += Math.sin((2 * Math.PI * 150 * k * i) / RATE_HZ) / k ** 0.7;
    return 1500 * sum * (1 + 0.5 * Math.sin((2 * Math.PI * 3 * i) / RATE_HZ));
  });
}

function packetsOf(samples: Int16Array, from: OpusEncoder): Uint8Array[] {
  const count = Math.floor(samples.length / FRAME);
  return Array.from({ length: count }, (_, i) => from.encode(samples.subarray(i * FRAME, (i + 1) * FRAME)));
}

function energy(samples: Int16Array): number {
  return samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length;
}

describe('Opus', () => {
  it('carries what lies above 4 kHz', () => {
    const decoder = new OpusDecoder(RATE_HZ);
    const original = voice(50);
    const decoded = packetsOf(original, encoder()).flatMap((packet) => [...decoder.decode(packet)]);
    expect(decoded).toHaveLength(50 * FRAME);
    const [before, after] = [original, Int16Array.from(decoded)].map((samples) =>
      energyAt(samples.subarray(3200), 5100, RATE_HZ),
    );
    expect(10 * Math.log10((after ?? 0) / (before ?? 1))).toBeGreaterThan(-6);
  });

  it.each([10, 20, 40, 60])('has packets of %d ms', (ms) => {
    const decoder = new OpusDecoder(RATE_HZ);
    const samples = voice(3).subarray(0, (RATE_HZ / 1000) * ms);
    expect(decoder.decode(encoder().encode(samples))).toHaveLength(samples.length);
  });

  it('refuses samples that are no packet', () => {
    expect(() => encoder().encode(new Int16Array(100))).toThrow(RangeError);
    expect(() => encoder().encode(new Int16Array(100_000))).toThrow(RangeError);
  });

  it('says of a lost packet what was in it, where the next one does', () => {
    const original = voice(20);
    const packets = packetsOf(original, encoder({ lossPercent: 20 }));
    const decoder = new OpusDecoder(RATE_HZ);
    for (const packet of packets.slice(0, 10)) decoder.decode(packet);
    const concealed = decoder.conceal(20, packets[11] as Uint8Array);
    expect(concealed).toHaveLength(FRAME);
    expect(energy(concealed)).toBeGreaterThan(energy(original.subarray(10 * FRAME, 11 * FRAME)) / 4);
    expect(decoder.decode(packets[11] as Uint8Array)).toHaveLength(FRAME);
  });

  it('bridges what is said nowhere, for at most 120 ms', () => {
    const packets = packetsOf(voice(12), encoder());
    const decoder = new OpusDecoder(RATE_HZ);
    for (const packet of packets.slice(0, 10)) decoder.decode(packet);
    expect(decoder.conceal(60, packets[11] as Uint8Array)).toHaveLength(3 * FRAME);
    expect(decoder.conceal(9000, packets[11] as Uint8Array)).toHaveLength(6 * FRAME);
    expect(decoder.conceal(-5, packets[11] as Uint8Array)).toHaveLength(0);
  });

  it('tells silence in a byte or two where that is wished', () => {
    const silence = packetsOf(new Int16Array(60 * FRAME), encoder({ dtx: true }));
    expect(silence.slice(40).some(({ length }) => length <= 2)).toBe(true);
    expect(packetsOf(new Int16Array(60 * FRAME), encoder()).every(({ length }) => length > 2)).toBe(true);
  });

  it('gives nothing for what is no packet, and goes on', () => {
    const decoder = new OpusDecoder(RATE_HZ);
    expect(decoder.decode(new Uint8Array(0))).toHaveLength(0);
    expect(decoder.decode(Uint8Array.of(0xff))).toHaveLength(0);
    expect(decoder.decode(new Uint8Array(20_000))).toHaveLength(0);
    expect(decoder.decode(encoder().encode(voice(1)))).toHaveLength(FRAME);
  });

  it('gives nothing once it is closed, and may be closed twice', () => {
    const [from, to] = [encoder(), new OpusDecoder(RATE_HZ)];
    const packet = from.encode(voice(1));
    for (const each of [from, to, from, to]) each.close();
    expect(to.decode(packet)).toHaveLength(0);
    expect(() => from.encode(voice(1))).toThrow(RangeError);
  });
});
