import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText, singlePunctuation } from '../../src/transcription/clean-text.ts';
import { LocalAgreement } from '../../src/transcription/local-agreement.ts';
import { splitWords } from '../../src/transcription/words.ts';

describe('cleanText', () => {
  it.each([
    ['However,,', 'However,'],
    ['If this is correct,, press,', 'If this is correct, press,'],
    ['Well, .', 'Well.'],
    ['Well, , yes', 'Well, yes'],
    ['Please hold..', 'Please hold.'],
    ['Please hold,.', 'Please hold.'],
    ['Are you there,?', 'Are you there?'],
    ['Stop!! Who goes there??', 'Stop! Who goes there?'],
    ['你好，，世界。。', '你好，世界。'],
    ['  so the the  ', 'so the the'],
  ])('writes %j as %j', (text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  it.each([
    'Wait... what?',
    'Wait . . . what?',
    'At 5 p.m., please.',
    'What?! No!',
    'It runs on Java, .NET and .com.',
    'Well. .NET',
    'Well, ,yes',
    'Hola, ¿qué? ¡Sí!',
    'So… etc., U.S., 3.5.',
    'It is 12:30, or 1,000.50.',
    "the caller's line -- is busy",
    '',
  ])('leaves %j as it is', (text) => {
    expect(cleanText(text)).toBe(text);
  });

  it('mends endless repetitions first', () => {
    expect(cleanText('ab,,'.repeat(25))).toBe('ab,');
  });
});

const sentence = fc.array(
  fc.constantFrom('However', 'due', '3', 'é', ',', ',,', '.', '..', '...', '?', '!', ' ', ' ', 'to', '，，'),
  {
    maxLength: 30,
  },
);

it('changes no word, and makes nothing longer', () => {
  fc.assert(
    fc.property(sentence, (parts) => {
      const text = parts.join('');
      const clean = singlePunctuation(text);
      expect(splitWords(clean).map(({ key }) => key)).toEqual(splitWords(text).map(({ key }) => key));
      expect(clean.length).toBeLessThanOrEqual(text.length);
    }),
  );
});

it('never takes back what two readings agreed on', () => {
  fc.assert(
    fc.property(fc.array(sentence, { minLength: 2, maxLength: 8 }), (readings) => {
      const agreement = new LocalAgreement();
      let stable = '';
      for (const parts of readings) {
        const heard = agreement.add(cleanText(parts.join('')), true);
        expect(heard.stable.startsWith(stable)).toBe(true);
        stable = heard.stable;
      }
      expect(agreement.finish(cleanText(readings.at(-1)?.join('') ?? '')).stable.startsWith(stable)).toBe(true);
    }),
  );
});

it('takes no longer the longer a text is', () => {
  const long = `${', '.repeat(50_000)}${'. '.repeat(50_000)}x`;
  expect(splitWords(cleanText(long)).length).toBeLessThanOrEqual(2);
});
