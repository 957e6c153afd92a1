/** Checks that a flow's steps do one thing each and lead somewhere. */
import { didYouMean, nearestName } from '../../foundation/nearest-name.ts';
import type { YamlPath } from '../../foundation/yaml-document.ts';
import { FLOW_VERBS, verbOf } from '../verbs/table.ts';
import { type Flow, type FlowStep, RESERVED_TARGETS } from './flow.ts';
import type { FlowFile } from './flow-file.ts';
import type { FlowFinding } from './flow-finding.ts';
import { exitsOf } from './flow-graph.ts';

/** @param names of all steps, also of those that could not be read */
export function checkSteps(flow: Flow, names: ReadonlySet<string>): FlowFinding[] {
  const { start, failed, fax, keys, steps, file } = flow;
  return [
    ...checkTarget(['start'], start, names, []),
    ...(failed === null ? [] : checkTarget(['failed'], failed, names, ['end'])),
    ...(fax === null ? [] : checkTarget(['fax'], fax, names, ['end'])),
    ...[...keys].flatMap(([key, to]) => checkTarget(['keys', key], to, names, RESERVED_TARGETS)),
    ...[...names].filter((name) => RESERVED_TARGETS.includes(name)).map(reservedName),
    ...Object.entries(file.steps).flatMap(([name, written]) => checkVerbs(written, ['steps', name])),
    ...[...steps.values()].flatMap((step) => checkStep(step, ['steps', step.name], names)),
  ];
}

function checkVerbs(written: FlowFile['steps'][string], path: YamlPath): FlowFinding[] {
  const [verb, ...others] = FLOW_VERBS.filter((candidate) => written[candidate] !== undefined);
  if (verb === undefined) return [{ path, message: `does nothing, expected one of ${FLOW_VERBS.join(', ')}` }];
  return others.map((other) => ({
    path: [...path, other],
    part: 'key',
    message: `the step has ${verb} already, expected one thing in each step: put this into a step of its own`,
  }));
}

function checkStep(step: FlowStep, path: YamlPath, names: ReadonlySet<string>): FlowFinding[] {
  const exits = exitsOf(step);
  const targets = exits.flatMap(({ to, path: at }) =>
    at === null ? [] : checkTarget([...path, ...at], to, names, RESERVED_TARGETS),
  );
  const isFollowed = exits.some(({ reason }) => reason === 'next');
  return [...targets, ...(isFollowed ? [] : unusedNext(step, path, names)), ...ownFindings(step, path)];
}

/** What the verb itself checks. */
function ownFindings({ verb, fields, next }: FlowStep, path: YamlPath): FlowFinding[] {
  return verbOf(verb).check?.(fields, [...path, verb], next) ?? [];
}

/** Questions go there when their tries are over; others never do. */
function unusedNext({ verb, next }: FlowStep, path: YamlPath, names: ReadonlySet<string>): FlowFinding[] {
  if (next === null) return [];
  const at = [...path, 'next'];
  const findings = checkTarget(at, next, names, RESERVED_TARGETS);
  if (verbOf(verb).isQuestion) return findings;
  const message = `is never followed: ${verb} says itself where the flow goes on`;
  return [...findings, { path: at, part: 'key', message, isWarning: true }];
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
