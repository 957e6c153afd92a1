import { describe, expect, it } from 'vitest';
import { COMFORT_NOISE_DBOV, ComfortNoise } from '../../src/audio/comfort-noise.ts';
import { decodeG711 } from '../../src/audio/g711.ts';
import { ALAW_8K, LINEAR_16K, MULAW_8K } from '../../src/foundation/units.ts';

function levelOf(samples: Int16Array): number {
  const energy = samples.reduce((sum, sample) => sum + sample * sample, 0);
  return 20 * Math.log10(Math.sqrt(energy / samples.length) / 32_768);
}

describe('comfort noise', () => {
  it.each([MULAW_8K, ALAW_8K, LINEAR_16K])('is as loud as it says, in $name at $rateHz Hz', (codec) => {
    const samples = decodeG711(new ComfortNoise(codec, 7).next(5000), codec);
    expect(samples).toHaveLength(5 * codec.rateHz);
    expect(Math.abs(levelOf(samples) + COMFORT_NOISE_DBOV)).toBeLessThan(1);
  });

  it('goes on where it was, and is not the same in each call', () => {
    const [one, other] = [new ComfortNoise(MULAW_8K, 1), new ComfortNoise(MULAW_8K, 2)];
    const [first, second] = [one.next(20), one.next(20)];
    expect(first).not.toEqual(second);
    expect(other.next(20)).not.toEqual(first);
    expect(new ComfortNoise(MULAW_8K, 1).next(40)).toEqual(new Uint8Array([...first, ...second]));
  });
});
