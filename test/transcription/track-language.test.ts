import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LanguageGuess, TrackLanguage } from '../../src/transcription/track-language.ts';

const SHORT = { speechMs: 900, meanLogprob: -0.1 };
const LONG = { speechMs: 3500, meanLogprob: -0.1 };

function heard(track: TrackLanguage, ...guesses: readonly LanguageGuess[]): (string | null)[] {
  return guesses.map((guess) => track.note(guess));
}

describe('TrackLanguage', () => {
  it('settles when two utterances agree, and not by one short one', () => {
    const track = new TrackLanguage();
    expect(heard(track, { language: 'de', ...SHORT })).toEqual([null]);
    expect(track.current).toBeNull();
    expect(heard(track, { language: 'de', ...SHORT })).toEqual(['de']);
    expect(track.current).toBe('de');
  });

  it('settles at once by a long utterance whose text is sure', () => {
    expect(heard(new TrackLanguage(), { language: 'ja', ...LONG })).toEqual(['ja']);
    expect(heard(new TrackLanguage(), { language: 'ja', ...LONG, meanLogprob: -0.5 })).toEqual([null]);
    expect(heard(new TrackLanguage(), { language: 'ja', ...LONG, meanLogprob: null })).toEqual([null]);
  });

  it('keeps the language in spite of single words that sound like others', () => {
    const track = new TrackLanguage();
    heard(track, { language: 'en', ...LONG });
    const others = ['nl', 'de', 'en', 'nl', 'cy'].map((language) => ({ language, ...SHORT }));
    for (const other of others) expect(track.accepts(other)).toBe(other.language === 'en');
    expect(heard(track, ...others)).toEqual([null, null, null, null, null]);
    expect(track.current).toBe('en');
  });

  it('changes in the midst of a call', () => {
    const track = new TrackLanguage();
    heard(track, { language: 'en', ...LONG }, { language: 'ja', ...SHORT });
    expect(track.accepts({ language: 'ja', ...SHORT })).toBe(true);
    expect(heard(track, { language: 'ja', ...SHORT }, { language: 'de', ...LONG })).toEqual(['ja', 'de']);
  });

  it('is what somebody named, whatever is found, until nobody names it', () => {
    const track = new TrackLanguage();
    track.name('de');
    expect(heard(track, { language: 'en', ...LONG }, { language: 'en', ...LONG })).toEqual([null, null]);
    expect(track.current).toBe('de');
    track.name(null);
    expect([track.named, track.current]).toEqual([null, null]);
    expect(heard(track, { language: 'en', ...LONG })).toEqual(['en']);
  });

  it('takes regions of one language for the same', () => {
    const track = new TrackLanguage();
    heard(track, { language: 'pt-BR', ...LONG });
    expect(track.accepts({ language: 'pt', ...SHORT })).toBe(true);
    expect(heard(track, { language: 'pt', ...LONG })).toEqual([null]);
  });

  it('never changes twice by the same utterances, and only to what was found', () => {
    const guesses = fc.array(
      fc.record({
        language: fc.constantFrom('en', 'de', 'ja'),
        speechMs: fc.nat(5000),
        meanLogprob: fc.option(fc.double({ min: -2, max: 0, noNaN: true })),
      }),
    );
    fc.assert(
      fc.property(guesses, (all) => {
        const track = new TrackLanguage();
        for (const guess of all) {
          const before = track.current;
          const accepted = track.accepts(guess);
          const change = track.note(guess);
          if (change !== null) expect([change, accepted, change === before]).toEqual([guess.language, true, false]);
          expect(track.current).toBe(change ?? before);
        }
      }),
    );
  });
});
