/** Checks DEFAULT_LANGUAGE, which is possible once an engine is ready. */
import { matchLanguage } from '../../foundation/languages.ts';
import type { Log } from '../../foundation/log/log.ts';
import { adviceFor, isAnyLanguage, understoodNames } from '../../foundation/recogniser-languages.ts';
import type { Settings } from '../../foundation/settings/settings.ts';

interface LanguageCheckOptions {
  readonly log: Pick<Log, 'error'>;
  /** What the recogniser understands; empty where that is not known yet. */
  readonly languages: () => readonly string[];
  /** Called at the start of a gateway whose recogniser does not understand the language. */
  readonly onRefused: (message: string) => void;
}

/**
 * Returns a function to be called when an engine is ready; it checks once. A language that is not understood ends the
 * start of a gateway that loads its models then. With ENGINE_PRELOAD=false a call has caused the load: it goes on as if
 * none was named.
 */
export function languageCheck(
  { DEFAULT_LANGUAGE: language, ENGINE_PRELOAD }: Pick<Settings, 'DEFAULT_LANGUAGE' | 'ENGINE_PRELOAD'>,
  { log, languages, onRefused }: LanguageCheckOptions,
): () => void {
  let isChecked = false;
  return () => {
    if (isChecked || languages().length === 0) return;
    isChecked = true;
    if (isAnyLanguage(language) || matchLanguage(language, languages()) !== null) return;
    const problem =
      `DEFAULT_LANGUAGE: got ${JSON.stringify(language.slice(0, 40))}, expected auto, or a language of the ` +
      `recogniser, which understands ${understoodNames(languages())}${adviceFor(language)}`;
    if (ENGINE_PRELOAD) onRefused(problem);
    else log.error(`${problem}. Calls are captioned as if none was named until that is changed`);
  };
}
