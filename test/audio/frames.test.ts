import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Framer, frameBytes, padToFrames } from '../../src/audio/frames.ts';
import { decodeG711 } from '../../src/audio/g711.ts';
import { type Codec, MULAW_8K } from '../../src/foundation/units.ts';

const ALAW_8K: Codec = { name: 'alaw', rateHz: 8000, channels: 1, bytesPerSample: 1 };
const PCM_16K: Codec = { name: 'pcm16', rateHz: 16_000, channels: 1, bytesPerSample: 2 };

describe('filling up to whole frames', () => {
  it.each([MULAW_8K, ALAW_8K, PCM_16K])('adds what $name decodes to silence', (codec) => {
    const padded = padToFrames(new Uint8Array(3), codec);
    expect(padded.length).toBe(frameBytes(codec));
    for (const sample of decodeG711(padded.subarray(4), codec)) expect(Math.abs(sample)).toBeLessThanOrEqual(8);
  });

  it('leaves whole frames, and nothing, as they are', () => {
    const whole = new Uint8Array(2 * frameBytes(MULAW_8K));
    expect(padToFrames(whole, MULAW_8K)).toBe(whole);
    expect(padToFrames(new Uint8Array(0), MULAW_8K)).toHaveLength(0);
  });
});

describe('a framer', () => {
  it('gives everything in whole frames, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 500 })), (sizes) => {
        const framer = new Framer(MULAW_8K);
        const pieces = sizes.map((size, n) => new Uint8Array(size).fill(n));
        const out = [...pieces.map((piece) => framer.push(piece)), framer.flush()];
        for (const piece of out) expect(piece.length % frameBytes(MULAW_8K)).toBe(0);
        const all = Buffer.concat(pieces);
        const got = Buffer.concat(out);
        expect(got.subarray(0, all.length).equals(all)).toBe(true);
        expect(got.length - all.length).toBeLessThan(frameBytes(MULAW_8K));
        expect(framer.flush()).toHaveLength(0);
      }),
    );
  });
});
