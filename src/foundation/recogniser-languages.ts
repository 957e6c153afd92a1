/** What a recogniser understands of what people name, and what could be installed for a language that is not there. */
import { TrunklineError } from './errors.ts';
import { languageName, matchLanguage, meansLanguage, titleCase } from './languages.ts';
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

/** They leave it to the recogniser; `multi` is Deepgram's, which apps name to ConversationRelay. */
const ANY = ['', 'auto', 'multi'];

/** Whether the choice is left to the recogniser. */
export function isAnyLanguage(language: string): boolean {
  return ANY.includes(language.trim().toLowerCase());
}

/**
 * The one of the recogniser's `languages` that `language` means; null = it is left to the recogniser.
 * @throws TrunklineError `unsupported_language` saying what is understood, and what could be installed
 */
export function requireSpoken(language: string, languages: readonly string[], param: string): string | null {
  if (isAnyLanguage(language)) return null;
  const found = matchLanguage(language, languages);
  if (found !== null) return found;
  throw new TrunklineError(
    'unsupported_language',
    `${param}: got ${JSON.stringify(language.slice(0, 40))}, which is not understood here: the recogniser ` +
      `understands ${understoodNames(languages)}${adviceFor(language)}`,
    param,
  );
}
