import { TrunklineError } from '../../foundation/errors.ts';
import { languageName, meansLanguage, titleCase } from '../../foundation/languages.ts';

/**
 * That the recogniser understands `language` (BCP 47), one of `languages`; none are listed while that is not known.
 * @throws TrunklineError `invalid_request`
 */
export function requireUnderstood(language: string, languages: readonly string[]): void {
  if (languages.length === 0 || languages.some((code) => meansLanguage(language, code))) return;
  const names = languages.map((code) => titleCase(languageName(code, languages)));
  throw new TrunklineError(
    'invalid_request',
    `transcriptionLanguage: got ${language}, only ${names.join(' and ')} is understood`,
  );
}
