import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LogMel } from '../../../engine/models/log-mel.ts';
import { writeFloats } from '../../../engine/models/pcm.ts';
import { speechLikeNoise } from '../../../engine/warm-up.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';

const NOISE_SAMPLES = 24_000;
/** Every so many features are in the file. */
const STEP = 37;

const { noise: expected } = JSON.parse(readFileSync(packagePath('fixtures', 'turns', 'expected.json'), 'utf8')) as {
  noise: Record<string, number[]>;
};

function noise(): Float32Array {
  const waveform = new Float32Array(NOISE_SAMPLES);
  writeFloats(speechLikeNoise(NOISE_SAMPLES), waveform, 0);
  return waveform;
}

describe('the features of Whisper', () => {
  it.each([80, 128])('are those of transformers, in %i bands', (bands) => {
    const features = new LogMel(bands).compute(noise());
    expect(features.length).toBe(bands * 150);
    const differences = expected[bands]?.map((value, index) => Math.abs(value - (features[index * STEP] as number)));
    expect(differences?.length).toBe(Math.ceil(features.length / STEP));
    expect(Math.max(...(differences ?? []))).toBeLessThan(4e-5);
  });

  it('are the same whether the frames in front are alike or computed one by one', () => {
    const silent = 8000;
    const padded = new Float32Array(silent + NOISE_SAMPLES).fill(0.01);
    padded.set(noise(), silent);
    const marked = padded.slice();
    // The first sample alone differs: no frame is taken for another one.
    marked[0] = 0.010001;
    const logMel = new LogMel(80);
    const [alike, apart] = [logMel.compute(padded), logMel.compute(marked)];
    expect(Math.max(...alike.map((value, index) => Math.abs(value - (apart[index] as number))))).toBeLessThan(1e-5);
  });

  it('are there for silence and for a single frame', () => {
    const silence = new LogMel(80).compute(new Float32Array(16_000));
    expect(silence.every((value) => Math.abs(value + 1.5) < 1e-6)).toBe(true);
    expect(new LogMel(80).compute(noise().subarray(0, 201)).length).toBe(80);
  });
});
