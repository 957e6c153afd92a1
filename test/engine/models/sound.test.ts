import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amplify, joinSamples, SilenceTrimmer, toSamples, trimSilence } from '../../../engine/models/sound.ts';

const RATE_HZ = 1000;

describe('SilenceTrimmer', () => {
  it('gives what trimSilence gives, wherever the sound is cut', () => {
    const sample = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.constantFrom(150, -150, 201, -3000));
    const stretches = fc.array(fc.array(sample, { maxLength: 120 }), { maxLength: 8 });
    fc.assert(
      fc.property(stretches, (parts) => {
        const sounds = parts.map((part) => Int16Array.from(part));
        const trimmer = new SilenceTrimmer(RATE_HZ);
        const given = [...sounds.map((part) => trimmer.push(part).slice()), trimmer.end(40)];
        expect(joinSamples(given)).toEqual(trimSilence(joinSamples(sounds), { rateHz: RATE_HZ, pauseMs: 40 }));
      }),
    );
  });
});

describe('toSamples', () => {
  it('leaves what is soft as it is and rounds off what is loud, below full scale', () => {
    const samples = toSamples(Float64Array.of(0, 0.5, -0.7, 0.8, 1, 3, -100), 1);
    expect([...samples.subarray(0, 3)]).toEqual([0, Math.round(0.5 * 32_767), Math.round(-0.7 * 32_767)]);
    const loud = [...samples.subarray(2, 6)].map(Math.abs);
    expect(loud.toSorted((a, b) => a - b)).toEqual(loud);
    expect(Math.max(...loud, Math.abs(samples[6] as number))).toBeLessThan(0.9 * 32_767);
  });

  it('raises by its gain, as amplify does', () => {
    expect([...toSamples(Float32Array.of(0.1, -0.2), 2)]).toEqual([6553, -13_107]);
    expect([...amplify(Int16Array.of(100, -200), 2)]).toEqual([200, -400]);
  });
});
