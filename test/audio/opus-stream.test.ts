import { describe, expect, it } from 'vitest';
import { joinBytes } from '../../src/audio/bytes.ts';
import { OpusPacker, OpusUnpacker, packedMs } from '../../src/audio/opus-stream.ts';
import { opusPackets } from '../helpers/opus-sound.ts';

const RATE_HZ = 16_000;
const SECONDS = 3;
const SOUND = Int16Array.from({ length: SECONDS * RATE_HZ }, (_, at) => 8000 * Math.sin(at / 8));

const loudness = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, each) => sum + each * each, 0) / samples.length);

describe('packets of Opus that are decoded later', () => {
  it('come in groups of a quarter of a second, whose length is known before', () => {
    const groups = new OpusPacker().pack(opusPackets(SOUND));
    expect(groups.map(packedMs)).toEqual([...Array<number>(11).fill(260), 140]);
    const unpacker = new OpusUnpacker(RATE_HZ, 1);
    const read = groups.flatMap((group) => unpacker.read(group));
    expect(read.map(({ length }) => length)).toEqual(groups.map((group) => (packedMs(group) * RATE_HZ) / 1000));
    expect(loudness(read[1] as Int16Array)).toBeGreaterThan(0.8 * loudness(SOUND));
    expect(unpacker.broken).toBe(0);
    unpacker.close();
  });

  it('are guessed where one is broken or too long, and counted', () => {
    const packets = opusPackets(SOUND);
    packets[20] = new Uint8Array(9000);
    // Code 3 with 63 frames: longer than 120 ms.
    packets[30] = Uint8Array.of(0xff, 0x3f);
    // Two frames of the same size in an odd number of bytes.
    packets[40] = Uint8Array.of(0x09, 1, 2, 3);
    const group = joinBytes(new OpusPacker().pack(packets));
    const unpacker = new OpusUnpacker(RATE_HZ, 1);
    const [read = new Int16Array(0)] = unpacker.read(group);
    expect(read.length).toBeGreaterThanOrEqual(RATE_HZ);
    expect(unpacker.broken).toBe(3);
    expect(loudness(read.subarray(20 * 320, 21 * 320))).toBeGreaterThan(0.2 * loudness(SOUND));
    unpacker.close();
  });

  it('are refused when none is one', () => {
    const groups = new OpusPacker().pack(Array.from({ length: 60 }, () => new Uint8Array(9000)));
    const unpacker = new OpusUnpacker(RATE_HZ, 1);
    expect(() => groups.map((group) => unpacker.read(group))).toThrow(/none of which is a packet of Opus/);
    unpacker.close();
  });
});
