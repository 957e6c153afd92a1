/** The languages that a request may name as those that are spoken. */
import { TrunklineError } from '../../foundation/errors.ts';
import { languageName, matchLanguage, titleCase } from '../../foundation/languages.ts';
import { adviceFor } from '../../foundation/recogniser-languages.ts';
import { describe } from '../server/echo.ts';

/** Leaves the choice to the recogniser. */
const ANY = ['', 'auto'];
/** Languages that are told with their names; of more a reader wants the codes alone. */
const NAMED_MAX = 6;

/** Whether somebody says what is spoken, rather than leave it to the recogniser. */
export function isLanguageGiven(language = ''): boolean {
  return !ANY.includes(language.trim().toLowerCase());
}

/**
 * The one rule for the language that somebody says is spoken: the recogniser would write nonsense for one that is not
 * among its `languages`. Without any, which is before an engine has been ready, nothing is refused.
 * @param param the request's field that holds it
 * @throws TrunklineError `unsupported_language` saying what is supported, and what could be installed
 */
export function requireLanguage(language: string, languages: readonly string[], param = 'language'): void {
  if (!isLanguageGiven(language) || languages.length === 0) return;
  if (matchLanguage(language, languages) !== null) return;
  throw new TrunklineError(
    'unsupported_language',
    `${param}: got ${describe(language)}, expected ${supported(languages)}${adviceFor(language)}`,
    param,
  );
}

/** What {@link requireLanguage} takes, in words. */
function supported(languages: readonly string[]): string {
  if (languages.length > NAMED_MAX) return `"auto", nothing, or one of ${languages.join(', ')}`;
  const names = languages.map((code) => titleCase(languageName(code, languages)));
  const [first = ''] = languages;
  const { language, region } = new Intl.Locale(first).maximize();
  const codes = `${quotedList(languages)} (or "${language}-${region}" and the like)`;
  return `${codes}, ${quotedList(names)}, "auto" or nothing: the recogniser understands ${names.join(' and ')}`;
}

function quotedList(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(' or ');
}
