/** The language of a call: who names it, and what becomes of one that nobody here understands. */
import type { Engine } from '../../engine-client/engine.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { LANGUAGE_NAMES, matchLanguage } from '../../foundation/languages.ts';
import { adviceFor, understoodNames } from '../../foundation/recogniser-languages.ts';

/** Who said which language is spoken; `heard`: the recogniser found it out. */
export type LanguageSource = 'call' | 'number' | 'setting' | 'app' | 'api' | 'heard';

/** A language that somebody names: a code, an English name, or `auto`. */
export interface NamedLanguage {
  readonly language: string;
  readonly by: Exclude<LanguageSource, 'heard'>;
}

/** They leave it to the recogniser; `multi` is Deepgram's, which apps name to ConversationRelay. */
const ANY = ['', 'auto', 'multi'];
const TAG = /^[a-z]{2,3}(?:[-_][a-z0-9]{1,8}){0,3}$/i;

/** Whether the choice is left to the recogniser. */
export function isAnyLanguage(language: string): boolean {
  return ANY.includes(language.trim().toLowerCase());
}

/** Whether `text` is a language at all: a BCP-47 code, an English name, or `auto`. */
export function isLanguage(text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return ['auto', 'multi'].includes(wanted) || TAG.test(wanted) || Object.values(LANGUAGE_NAMES).includes(wanted);
}

/**
 * The one of the recogniser's languages that `language` means; null = it is left to the recogniser.
 * @throws TrunklineError `unsupported_language` saying what is understood, and what could be installed
 */
export function requireSpoken(language: string, engine: Pick<Engine, 'languages'>, param: string): string | null {
  if (isAnyLanguage(language)) return null;
  const found = matchLanguage(language, engine.languages);
  if (found !== null) return found;
  throw new TrunklineError(
    'unsupported_language',
    `${param}: got ${JSON.stringify(language.slice(0, 40))}, which is not understood here: the recogniser ` +
      `understands ${understoodNames(engine.languages)}${adviceFor(language)}`,
    param,
  );
}
