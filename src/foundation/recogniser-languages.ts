/** Which recognisers that can be installed understand which languages, for people who ask for one that is not there. */
import { languageName, meansLanguage, titleCase } from './languages.ts';
import {
  COMMUNITY_LICENCE,
  PUBLISHED_RECOGNISERS,
  type PublishedRecogniser,
  settingOfUse,
} from './published-recognisers.ts';

/** Recognisers that understand `language` and can be installed: the best of each use, free for business if any is. */
export function installableRecognisers(language: string): PublishedRecogniser[] {
  const knowing = PUBLISHED_RECOGNISERS.filter(({ languages }) =>
    languages.some((code) => meansLanguage(language, code)),
  );
  const free = knowing.filter(({ licence }) => licence !== COMMUNITY_LICENCE);
  const chosen = free.length > 0 ? free : knowing;
  return (['live', 'final'] as const).flatMap((use) => chosen.find((one) => one.use === use) ?? []);
}

/** What could be installed for `language`, which the recogniser does not understand: the end of a message, or ''. */
export function adviceFor(language: string): string {
  const found = installableRecognisers(language);
  const [first] = found;
  if (first === undefined) return '';
  const named = found.map(({ name, use }) => `${name} (${settingOfUse(use)})`).join(' and ');
  return `; ${named} can be installed for it: trunkline models add ${first.name}`;
}

/** The languages by name: `English and German`. */
export function understoodNames(languages: readonly string[]): string {
  const names = languages.map((code) => titleCase(languageName(code, languages)));
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
