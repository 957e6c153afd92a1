/** Which recognisers that can be installed understand which languages, for people who ask for one that is not there. */
import { languageName, meansLanguage, titleCase } from './languages.ts';

/** A family of recognisers, and the languages for which there is one, as their publishers list them. */
interface PublishedRecognisers {
  readonly name: string;
  readonly languages: readonly string[];
}

/** Moonshine: one model for each language. Parakeet TDT 0.6B v3: one for all (its model card). */
const PUBLISHED: readonly PublishedRecognisers[] = [
  { name: 'Moonshine streaming', languages: ['en', 'de', 'es', 'ja', 'ar', 'tl', 'vi', 'zh'] },
  {
    name: 'Parakeet TDT 0.6B v3',
    languages: 'bg hr cs da nl en et fi fr de el hu it lv lt mt pl pt ro sk sl es sv ru uk' // ISO 639-1
      .split(' '),
  },
];

/** The names of recognisers that understand `language` and can be installed. */
export function installableRecognisers(language: string): string[] {
  return PUBLISHED.filter(({ languages }) => languages.some((code) => meansLanguage(language, code))).map(
    ({ name }) => name,
  );
}

/** What could be installed for `language`, which the recogniser does not understand: the end of a message, or ''. */
export function adviceFor(language: string): string {
  const names = installableRecognisers(language);
  return names.length === 0 ? '' : `; ${names.join(' and ')} can be installed for it (trunkline models add, ASR_MODEL)`;
}

/** The languages by name: `English and German`. */
export function understoodNames(languages: readonly string[]): string {
  const names = languages.map((code) => titleCase(languageName(code, languages)));
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
