/** Checks the languages that flows name. */
import { isLanguage } from '../../calls/language/spoken-language.ts';
import type { YamlPath } from '../../foundation/yaml-document.ts';
import type { FlowFinding } from '../file/flow-finding.ts';

/** What a variable brings is not known. */
export function checkLanguage(language: string, path: YamlPath): FlowFinding[] {
  if (language.includes('{') || isLanguage(language)) return [];
  return [{ path, message: `got ${JSON.stringify(language)}, expected a language such as de or en-US` }];
}
