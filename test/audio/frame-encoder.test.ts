import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinBytes } from '../../src/audio/bytes.ts';
import { FrameEncoder } from '../../src/audio/frame-encoder.ts';
import { frameBytes } from '../../src/audio/frames.ts';
import { ALAW_8K, type Codec, MULAW_8K } from '../../src/foundation/units.ts';

const PCM_24K: Codec = { name: 'pcm16', rateHz: 24_000, channels: 1, bytesPerSample: 2 };
const PCM_22K: Codec = { ...PCM_24K, rateHz: 22_050 };

function samplesOf(length: number): Int16Array {
  return Int16Array.from({ length }, (_, i) => 9000 * Math.sin(i / 3) + 5000 * Math.sin(i / 41));
}

describe('a frame encoder', () => {
  it('gives the same whole frames however the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(8000, 16_000, 22_050, 24_000),
        fc.constantFrom(MULAW_8K, ALAW_8K, PCM_24K, PCM_22K),
        fc.nat(4000),
        fc.array(fc.nat(4000), { maxLength: 10 }),
        (rateHz, codec, length, points) => {
          const samples = samplesOf(length);
          const whole = new FrameEncoder(rateHz, codec);
          const atOnce = joinBytes([whole.push(samples), whole.flush()]);
          const encoder = new FrameEncoder(rateHz, codec);
          const cuts = [0, ...points.map((point) => Math.min(point, length)).toSorted((a, b) => a - b), length];
          const parts = cuts.slice(1).map((to, index) => encoder.push(samples.subarray(cuts[index], to)));
          const rest = encoder.flush();
          for (const part of [...parts, rest]) expect(part.length % frameBytes(codec)).toBe(0);
          expect(joinBytes([...parts, rest])).toEqual(atOnce);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('takes another stream after a flush', () => {
    const encoder = new FrameEncoder(16_000, MULAW_8K);
    const samples = samplesOf(3000);
    const sound = () => joinBytes([encoder.push(samples), encoder.flush()]);
    const first = sound();
    expect(sound()).toEqual(first);
  });
});
