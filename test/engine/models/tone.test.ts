import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toneAsr, toneTurnDetector, toneVad } from '../../../engine/models/tone.ts';
import { finish, joined, tone } from '../speech.ts';

const heard = async (samples: Int16Array) => (await finish(toneAsr.transcribe(samples, []))).result.text;

describe('the pretend turn detector', () => {
  const decided = async (samples: Int16Array) => (await finish(toneTurnDetector.decide(samples))).result;

  it('goes by the last tone before the silence', async () => {
    expect(await decided(joined(tone(2600, 400), tone(400, 300), tone(0, 200)))).toBe(0);
    expect(await decided(joined(tone(400, 400), tone(2600, 300), tone(0, 200)))).toBe(1);
    expect(await decided(joined(tone(400, 400), tone(1400, 300), tone(0, 200)))).toBeCloseTo(5 / 11);
  });

  it('takes silence for the end of a turn', async () => {
    expect(await decided(tone(0, 300))).toBe(1);
  });
});

describe('the pretend recogniser', () => {
  it.each([
    [400, 'alpha'],
    [600, 'bravo'],
    [1000, 'delta'],
    [2600, 'lima'],
    [640, 'bravo'],
    [100, 'alpha'],
    [5000, 'lima'],
  ])('hears %i Hz as %s', async (frequencyHz, word) => {
    expect(await heard(tone(frequencyHz, 200))).toBe(word);
  });

  it('says one word per 200 ms', async () => {
    expect(await heard(joined(tone(400, 400), tone(800, 200)))).toBe('alpha alpha charlie');
  });

  it('hears a tone that ends within a slice', async () => {
    expect(await heard(joined(tone(1000, 300), tone(0, 300)))).toBe('delta delta');
  });

  it('hears nothing in silence or in no audio', async () => {
    expect(await heard(tone(0, 1000))).toBe('');
    expect(await heard(new Int16Array(0))).toBe('');
  });

  it('says the same whatever silence comes before', async () => {
    const words = joined(tone(400, 200), tone(1200, 200), tone(600, 200));
    const silence = fc.integer({ min: 0, max: 300 });
    await fc.assert(
      fc.asyncProperty(silence, async (ms) => (await heard(joined(tone(0, ms), words))) === 'alpha echo bravo'),
    );
  });

  it('begins with the same words when the window grows', async () => {
    const whole = joined(tone(0, 130), tone(400, 400), tone(1000, 200), tone(600, 400));
    const text = await heard(whole);
    const length = fc.integer({ min: 0, max: whole.length });
    await fc.assert(
      fc.asyncProperty(length, async (samples) => text.startsWith(await heard(whole.subarray(0, samples)))),
    );
  });
});

describe('the pretend voice detector', () => {
  it('hears speech where it is loud', async () => {
    const tracks = [{ samples: joined(tone(0, 64), tone(500, 64)), state: null }];
    const { result } = await finish(toneVad.detect(tracks));
    expect([...(result[0]?.probabilities ?? [])].map((probability) => probability >= 0.5)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('keeps the tracks apart', async () => {
    const tracks = [tone(500, 32), tone(0, 64)].map((samples) => ({ samples, state: null }));
    const { result } = await finish(toneVad.detect(tracks));
    expect(result.map(({ probabilities }) => probabilities.length)).toEqual([1, 2]);
    expect(result[1]?.probabilities[0]).toBeLessThan(0.5);
  });
});
