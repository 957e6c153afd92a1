/** Checks that callers who are not understood are not simply cut off. */
import { verbOf } from '../verbs/table.ts';
import type { Flow, FlowStep } from './flow.ts';
import type { FlowFinding } from './flow-finding.ts';

/**
 * Questions of a flow, and of those that it calls, after whose last try the call would end without a word. To be asked
 * of flows that calls begin with: what one of the others does not catch is for the flow that calls it.
 */
export function checkWaysOut(flow: Flow, flows: ReadonlyMap<string, Flow>): FlowFinding[] {
  const [first, ...others] = endsOf(flow, flows, new Set());
  if (first === undefined) return [];
  const also = others.length === 0 ? '' : ` (so does ${others.join(', ')})`;
  const message =
    `ends the call without a word when the caller is not understood or says nothing${also}: ` +
    'expected failed: or failedPrompt: at the top of the flow, or next: under noMatch: and noInput:';
  return [{ path: ['steps', first], part: 'key', message, isWarning: true }];
}

/** The names of such steps. */
function endsOf(flow: Flow, flows: ReadonlyMap<string, Flow>, seen: Set<string>): string[] {
  if (flow.failed !== null || flow.failedPrompt !== null || seen.has(flow.name)) return [];
  seen.add(flow.name);
  return [...flow.steps.values()].filter((step) => ends(step, flows, seen)).map(({ name }) => name);
}

function ends(step: FlowStep, flows: ReadonlyMap<string, Flow>, seen: Set<string>): boolean {
  if (step.verb !== 'flow') return verbOf(step.verb).leavesUnanswered?.(step.fields) ?? false;
  const called = flows.get(step.fields.name);
  return called !== undefined && endsOf(called, flows, seen).length > 0;
}
