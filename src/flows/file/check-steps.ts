/** Checks that a flow's steps do one thing each and lead somewhere. */
import { didYouMean, nearestName } from '../../foundation/nearest-name.ts';
import type { YamlPath } from '../../foundation/yaml-document.ts';
import { RESERVED_TARGETS } from './flow.ts';
import type { FlowFile } from './flow-file.ts';
import type { FlowFinding } from './flow-finding.ts';
import { exitsOf } from './flow-graph.ts';
import { FLOW_VERBS } from './verbs.ts';

type Step = FlowFile['steps'][string];

/** @param names of all steps, also of those that could not be read */
export function checkSteps(file: FlowFile, names: ReadonlySet<string>): FlowFinding[] {
  const steps = Object.entries(file.steps);
  return [
    ...checkTarget(['start'], file.start, names, []),
    ...(file.failed === undefined ? [] : checkTarget(['failed'], file.failed, names, ['end'])),
    ...Object.entries(file.keys ?? {}).flatMap(([key, to]) => checkTarget(['keys', key], to, names, RESERVED_TARGETS)),
    ...[...names].filter((name) => RESERVED_TARGETS.includes(name)).map(reservedName),
    ...steps.flatMap(([name, step]) => checkStep(step, ['steps', name], names)),
  ];
}

function checkStep(step: Step, path: YamlPath, names: ReadonlySet<string>): FlowFinding[] {
  const [verb, ...others] = FLOW_VERBS.filter((candidate) => step[candidate] !== undefined);
  if (verb === undefined) return [{ path, message: `does nothing, expected one of ${FLOW_VERBS.join(', ')}` }];
  const findings = others.map(
    (other): FlowFinding => ({
      path: [...path, other],
      part: 'key',
      message: `the step has ${verb} already, expected one thing in each step: put this into a step of its own`,
    }),
  );
  if (findings.length > 0) return findings;
  const exits = exitsOf(step);
  const targets = exits.flatMap(({ to, path: at }) =>
    at === null ? [] : checkTarget([...path, ...at], to, names, RESERVED_TARGETS),
  );
  // What `next` says counts only where a way out leads there.
  const isUnused = step.next !== undefined && !exits.some(({ reason }) => reason === 'next');
  const unused = isUnused ? unusedNext(step, verb, path, names) : [];
  return [...targets, ...unused, ...choicesThatLeadNowhere(step, path)];
}

/** A question goes there when its tries are over; others never do. */
function unusedNext(step: Step, verb: string, path: YamlPath, names: ReadonlySet<string>): FlowFinding[] {
  const at = [...path, 'next'];
  const { next = 'end' } = step;
  const findings = checkTarget(at, next, names, RESERVED_TARGETS);
  if (step.menu !== undefined || step.confirm !== undefined) return findings;
  const message = `is never followed: ${verb} says itself where the flow goes on`;
  return [...findings, { path: at, part: 'key', message, isWarning: true }];
}

function choicesThatLeadNowhere({ menu, next }: Step, path: YamlPath): FlowFinding[] {
  if (menu === undefined || menu.into !== undefined || next !== undefined) return [];
  return Object.entries(menu.choices).flatMap(([name, choice]): FlowFinding[] => {
    if (choice.next !== undefined) return [];
    const message = 'leads nowhere, expected next: here, or for all choices at the step';
    return [{ path: [...path, 'menu', 'choices', name], part: 'key', message }];
  });
}

function checkTarget(
  path: YamlPath,
  to: string,
  names: ReadonlySet<string>,
  reserved: readonly string[],
): FlowFinding[] {
  if (names.has(to) || reserved.includes(to)) return [];
  const meant = didYouMean(to, [...names, ...reserved]);
  const all = reserved.length === 0 ? '' : ` or ${reserved.join(', ')}`;
  const expected = nearestName(to, names) === null ? `, expected the name of a step${all}` : '';
  return [{ path, message: `there is no step ${to}${meant}${expected}` }];
}

function reservedName(name: string): FlowFinding {
  const message = `has a name with a meaning of its own, expected another than ${RESERVED_TARGETS.join(', ')}`;
  return { path: ['steps', name], part: 'key', message };
}
