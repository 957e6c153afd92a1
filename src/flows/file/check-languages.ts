/** Checks that callers are not spoken to in one language with the sounds of another. */
import { promptsOf } from '../prompts/static-prompts.ts';
import type { FlowSet } from './flow.ts';
import type { FlowFinding } from './flow-finding.ts';

const NAMED_MAX = 5;

/** Steps of a flow whose text is said in several languages. A recording may be there in each of them. */
export function checkLanguages(set: FlowSet): FlowFinding[] {
  const said = new Map<string, Set<string>>();
  // What language a call begins in is not known here.
  for (const { flow, step, prompt, language } of promptsOf(set, '')) {
    if (flow !== set.name || step === null || language === '' || prompt.recording !== undefined) continue;
    said.set(step, (said.get(step) ?? new Set()).add(language));
  }
  return [...said].flatMap(([step, languages]): FlowFinding[] => {
    const spoken = new Set([...languages].map((language) => language.toLowerCase().split(/[-_]/)[0]));
    if (spoken.size < 2) return [];
    const all = [...languages].slice(0, NAMED_MAX).join(' and in ');
    const message = `is said in ${all}, with the same text: expected a step for each language`;
    return [{ path: ['steps', step], part: 'key', message, isWarning: true }];
  });
}
