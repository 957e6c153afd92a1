/** Checks what flows ask of each other. */
import type { Flow } from './flow.ts';
import type { FlowFinding } from './flow-finding.ts';
import { calledBy, callsOf } from './flow-set.ts';

/** What is wrong with the calls of `flow` to other flows. `refused` = those that are there and cannot be used. */
export function checkCalls(flow: Flow, flows: ReadonlyMap<string, Flow>, refused: ReadonlySet<string>): FlowFinding[] {
  return callsOf(flow).flatMap(({ name, fields }): FlowFinding[] => {
    const path = ['steps', name, 'flow', 'name'];
    if (!flows.has(fields.name)) {
      const why = refused.has(fields.name) ? `flow ${fields.name} has errors` : `there is no flow ${fields.name}`;
      return [{ path, message: why }];
    }
    const circle = wayTo(flow.name, fields.name, flows);
    return circle === null ? [] : [{ path, message: `flows call each other in a circle: ${circle.join(' → ')}` }];
  });
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
