/** Checks what a flow says of places and languages. */
import { findZoneProblem } from '../understand/hours.ts';
import { checkLanguage } from '../verbs/check-language.ts';
import type { FlowFile } from './flow-file.ts';
import type { FlowFinding } from './flow-finding.ts';

/** Its time zone and its language. */
export function checkValues({ language, timeZone, steps }: FlowFile): FlowFinding[] {
  const zoneProblem = timeZone === undefined ? null : findZoneProblem(timeZone);
  return [
    ...(zoneProblem === null ? [] : [{ path: ['timeZone'], message: zoneProblem }]),
    ...(language === undefined ? [] : checkLanguage(language, ['language'])),
    ...(timeZone === undefined ? hoursWithoutZone(steps) : []),
  ];
}

/** A flow that calls this one may have a time zone. */
function hoursWithoutZone(steps: FlowFile['steps']): FlowFinding[] {
  return Object.entries(steps).flatMap(([name, { hours }]): FlowFinding[] => {
    if (hours === undefined || hours.timeZone !== undefined) return [];
    const message = 'no timeZone stands here or at the top of the flow: UTC, or that of the flow that calls this one';
    return [{ path: ['steps', name, 'hours'], part: 'key', message, isWarning: true }];
  });
}
