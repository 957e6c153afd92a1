/** The language of a call, and who names it. */
import { LANGUAGE_NAMES } from '../../foundation/languages.ts';

/** Who said which language is spoken; `heard`: the recogniser found it out. */
export type LanguageSource = 'call' | 'number' | 'setting' | 'app' | 'api' | 'heard';

/** A language that somebody names: a code, an English name, or `auto`. */
export interface NamedLanguage {
  readonly language: string;
  readonly by: Exclude<LanguageSource, 'heard'>;
}

const TAG = /^[a-z]{2,3}(?:[-_][a-z0-9]{1,8}){0,3}$/i;

/** Whether `text` is a language at all: a BCP-47 code, an English name, or `auto`. */
export function isLanguage(text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return ['auto', 'multi'].includes(wanted) || TAG.test(wanted) || Object.values(LANGUAGE_NAMES).includes(wanted);
}
