import { describe, expect, it } from 'vitest';
import { languageName, requireLanguage } from '../../../src/http/transcriptions/languages.ts';

describe('requireLanguage', () => {
  it.each(['', 'auto', 'Auto', 'en', 'EN', 'en-US', 'en_gb', 'en-Latn-US', 'english', 'English', ' English '])(
    'takes "%s"',
    (language) => {
      expect(() => requireLanguage(language)).not.toThrow();
    },
  );

  it.each([
    ['de', '"de"'],
    ['Chinese', '"Chinese"'],
    ['zh-TW', '"zh-TW"'],
    ['enx', '"enx"'],
    ['en-', '"en-"'],
    [`en-${'x'.repeat(5000)}`, `"en-${'x'.repeat(76)}…`],
  ])('refuses "%s" and says what there is', (language, shown) => {
    expect(() => requireLanguage(language)).toThrow(
      expect.objectContaining({
        code: 'unsupported_language',
        param: 'language',
        message: `language: got ${shown}, expected "en" (or "en-US" and the like), "English", "auto" or nothing: the recogniser understands English`,
      }),
    );
  });
});

it('knows a language by its code, its name, and as it is spoken somewhere', () => {
  expect(['de', 'German', 'en-GB', 'Klingon'].map(languageName)).toEqual(['german', 'german', 'english', 'klingon']);
});
