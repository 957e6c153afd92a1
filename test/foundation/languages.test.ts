import { expect, it } from 'vitest';
import { languageName, meansLanguage } from '../../src/foundation/languages.ts';

it('knows a language by its code and its name', () => {
  expect(['de', 'German', 'Klingon'].map((language) => languageName(language))).toEqual([
    'german',
    'german',
    'klingon',
  ]);
});

it.each(['constructor', '__proto__', 'toString'])('knows no language %s', (name) => {
  expect(languageName(name)).toBe(name.toLowerCase());
});

it('leaves the region out of a language that the recogniser has, and of no other', () => {
  expect(['en-GB', 'en_us', 'pt-BR'].map((language) => languageName(language, ['en']))).toEqual([
    'english',
    'english',
    'pt-br',
  ]);
});

it.each(['en', 'EN', 'en-US', 'en_gb', 'en-Latn-US', ' English '])('takes %s for English', (wanted) => {
  expect(meansLanguage(wanted, 'en')).toBe(true);
  expect(meansLanguage(wanted, 'de')).toBe(false);
});

it.each(['enx', 'en-', 'e', ''])('does not take "%s" for English', (wanted) => {
  expect(meansLanguage(wanted, 'en')).toBe(false);
});
