/** The flows of a folder: which version of each is used, and what is wrong with the others. */
import type { YamlProblem } from '../../foundation/yaml-document.ts';
import { checkCalls } from './check-calls.ts';
import type { Flow, FlowSet } from './flow.ts';
import { flowSetOf } from './flow-set.ts';
import type { ReadFlow } from './read-flow.ts';

/** A flow's file as it is now, and the last version of it that was right. */
export interface ShelvedFlow {
  readonly read: ReadFlow;
  /** Null = it was never right. */
  readonly good: Flow | null;
}

/** What came of a flow. */
export interface JudgedFlow {
  /** With all that it calls; null = it cannot be used as it is. */
  readonly set: FlowSet | null;
  /** What others use that call it; null = nothing. */
  readonly good: Flow | null;
  readonly errors: readonly YamlProblem[];
}

/** Looks at all flows together. A flow that cannot be used leaves others the version of it that was right. */
export function judgeFlows(shelf: ReadonlyMap<string, ShelvedFlow>): Map<string, JudgedFlow> {
  const flows = new Map<string, Flow>();
  const errors = new Map<string, readonly YamlProblem[]>();
  for (const [name, { read, good }] of shelf) {
    const flow = read.flow ?? good;
    if (flow !== null) flows.set(name, flow);
    if (read.errors.length > 0) errors.set(name, read.errors);
  }
  refuseWrongCalls(shelf, flows, errors);
  const judge = (name: string): JudgedFlow => {
    const wrong = errors.get(name) ?? [];
    const set = wrong.length > 0 ? null : flowSetOf(name, flows);
    return { set, good: flows.get(name) ?? null, errors: wrong };
  };
  return new Map([...shelf.keys()].map((name) => [name, judge(name)]));
}

/** Takes out of `flows` what calls others wrongly, until no more is found: each may be what another one calls. */
function refuseWrongCalls(
  shelf: ReadonlyMap<string, ShelvedFlow>,
  flows: Map<string, Flow>,
  errors: Map<string, readonly YamlProblem[]>,
): void {
  let isSettled = false;
  while (!isSettled) {
    isSettled = true;
    const refused = new Set(errors.keys());
    for (const [name, { read, good }] of shelf) {
      if (read.flow === null || errors.has(name)) continue;
      const findings = checkCalls(read.flow, flows, refused);
      if (findings.length === 0) continue;
      isSettled = false;
      errors.set(
        name,
        findings.map(({ path, message, part }) => read.document.problemAt(path, message, part)),
      );
      if (good === null || good === read.flow) flows.delete(name);
      else flows.set(name, good);
    }
  }
}
