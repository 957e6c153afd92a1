/** Checks what flows ask of each other. */
import { didYouMean } from '../../foundation/nearest-name.ts';
import type { YamlPath } from '../../foundation/yaml-document.ts';
import { namesSetBy } from './check-variables.ts';
import type { Flow, StepOf } from './flow.ts';
import type { FlowFinding } from './flow-finding.ts';
import { calledBy, callsOf } from './flow-set.ts';

/** What is wrong with the calls of `flow` to other flows. `refused` = those that are there and cannot be used. */
export function checkCalls(flow: Flow, flows: ReadonlyMap<string, Flow>, refused: ReadonlySet<string>): FlowFinding[] {
  return callsOf(flow).flatMap((step): FlowFinding[] => {
    const path = ['steps', step.name, 'flow'];
    const { name } = step.fields;
    const called = flows.get(name);
    if (called === undefined) {
      const missing = `there is no flow ${name}${didYouMean(name, flows.keys())}`;
      return [{ path: [...path, 'name'], message: refused.has(name) ? `flow ${name} has errors` : missing }];
    }
    const circle = wayTo(flow.name, name, flows);
    if (circle === null) return checkValues(step, called, path);
    return [{ path: [...path, 'name'], message: `flows call each other in a circle: ${circle.join(' → ')}` }];
  });
}

/** What is given to a flow must be its parameters, and what is taken over from it its variables. */
function checkValues({ fields }: StepOf<'flow'>, called: Flow, path: YamlPath): FlowFinding[] {
  const parameters = Object.keys(called.parameters);
  const unknown = Object.keys(fields.with ?? {}).filter((name) => !parameters.includes(name));
  const given = unknown.map((name): FlowFinding => {
    const message = `flow ${called.name} has no such parameter${didYouMean(name, parameters)}`;
    return { path: [...path, 'with', name], part: 'key', message };
  });
  const known = namesSetBy(called.file);
  const taken = Object.entries(fields.into ?? {}).filter(([, theirs]) => !known.has(theirs));
  const never = taken.map(([ours, theirs]): FlowFinding => {
    const message = `flow ${called.name} never sets ${theirs}${didYouMean(theirs, known)}`;
    return { path: [...path, 'into', ours], message };
  });
  return [...given, ...never];
}

/** The flows by whose calls `to` is reached from `from`, both included; null = it is not. */
function wayTo(to: string, from: string, flows: ReadonlyMap<string, Flow>): string[] | null {
  const before = new Map<string, string | null>([[from, null]]);
  for (const name of before.keys()) {
    if (name === to) return trail(name, before);
    const flow = flows.get(name);
    for (const next of flow === undefined ? [] : calledBy(flow)) if (!before.has(next)) before.set(next, name);
  }
  return null;
}

function trail(last: string, before: ReadonlyMap<string, string | null>): string[] {
  const names: string[] = [last];
  for (let at = before.get(last) ?? null; at !== null; at = before.get(at) ?? null) names.unshift(at);
  return [last, ...names];
}
