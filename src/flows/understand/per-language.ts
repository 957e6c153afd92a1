import type { LanguageWords } from './languages/language-words.ts';

/** What `build` makes of the words of a language, made once for each. */
export function perLanguage<Made>(build: (words: LanguageWords) => Made): (words: LanguageWords) => Made {
  const made = new WeakMap<LanguageWords, Made>();
  return (words) => {
    const known = made.get(words);
    if (known !== undefined) return known;
    const fresh = build(words);
    made.set(words, fresh);
    return fresh;
  };
}
