/** A flow and those that it calls. */
import { createHash } from 'node:crypto';
import type { Flow, FlowSet, StepOf } from './flow.ts';

const VERSION_CHARS = 8;

/** The flow `name` with all that it calls; null where one of them is missing. */
export function flowSetOf(name: string, flows: ReadonlyMap<string, Flow>): FlowSet | null {
  const main = flows.get(name);
  if (main === undefined) return null;
  const found = new Map([[name, main]]);
  // What is found is looked through in its turn.
  for (const flow of found.values()) {
    for (const called of calledBy(flow)) {
      const other = flows.get(called);
      if (other === undefined) return null;
      found.set(called, other);
    }
  }
  return { name, version: versionOf(found), main, flows: found };
}

/** The names of the flows that a flow calls. */
export function calledBy(flow: Flow): string[] {
  return callsOf(flow).map(({ fields }) => fields.name);
}

/** The steps that call flows. */
export function callsOf(flow: Flow): StepOf<'flow'>[] {
  return [...flow.steps.values()].filter((step) => step.verb === 'flow');
}

function versionOf(flows: ReadonlyMap<string, Flow>): string {
  const files = [...flows.values()].map(({ name, sha256 }) => `${name} ${sha256}\n`).toSorted();
  return createHash('sha256').update(files.join('')).digest('hex').slice(0, VERSION_CHARS);
}
