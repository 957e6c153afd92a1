/** Checks that the steps of a flow can be reached, and that a caller who says nothing does not go round for ever. */

import { verbOf } from '../verbs/table.ts';
import type { Flow } from './flow.ts';
import type { FlowFinding } from './flow-finding.ts';
import { type FlowNode, nodesOf } from './flow-graph.ts';

/** Only for flows all of whose steps could be read, and lead to steps that exist. */
export function checkPaths(flow: Flow): FlowFinding[] {
  const nodes = nodesOf(flow);
  const reached = reachedFrom([flow.start, flow.failed ?? '', flow.fax ?? '', ...flow.keys.values()], nodes);
  return [
    ...nodes.filter(({ name }) => !reached.has(name)).map(unreached),
    ...endlessRounds(nodes, flow).filter(({ path }) => reached.has(String(path[1]))),
  ];
}

function unreached({ name }: FlowNode): FlowFinding {
  return { path: ['steps', name], part: 'key', message: 'is never reached: no step leads here', isWarning: true };
}

function reachedFrom(starts: readonly string[], all: readonly FlowNode[]): Set<string> {
  const nodes = new Map(all.map((node) => [node.name, node]));
  const reached = new Set(starts.filter((name) => nodes.has(name)));
  for (const name of reached) for (const { to } of nodes.get(name)?.exits ?? []) if (nodes.has(to)) reached.add(to);
  return reached;
}

function endlessRounds(nodes: readonly FlowNode[], { keys }: Flow): FlowFinding[] {
  const instant = nodes.filter(({ verb }) => verbOf(verb).takes === 'no time');
  const rounds = stepsOfRounds(instant).map((name) => ({
    path: ['steps', name],
    part: 'key' as const,
    message: 'leads back to itself without a pause: put a prompt or a question between',
  }));
  // A key can end a round that has no question.
  if (rounds.length > 0 || keys.size > 0) return rounds.slice(0, 1);
  const caught = stepsWithoutEnd(nodes).map((name) => ({
    path: ['steps', name],
    part: 'key' as const,
    message: 'goes round for ever: no step after it asks the caller something or ends',
  }));
  return caught.slice(0, 1);
}

/** The names of the nodes that lie on a round of these nodes. */
function stepsOfRounds(nodes: readonly FlowNode[]): string[] {
  return nodes
    .filter((node) => reachedFrom(node.exits.map(targetOf(node)), nodes).has(node.name))
    .map(({ name }) => name);
}

/** The names of the nodes from which neither an end nor a question is reached. */
function stepsWithoutEnd(nodes: readonly FlowNode[]): string[] {
  const ending = new Set(
    nodes
      .filter(({ verb, exits }) => verbOf(verb).takes === 'caller' || exits.some(({ to }) => isWayOut(to)))
      .map(({ name }) => name),
  );
  for (let before = -1; before !== ending.size; ) {
    before = ending.size;
    for (const { name, exits } of nodes) if (exits.some(({ to }) => ending.has(to))) ending.add(name);
  }
  return nodes.filter(({ name }) => !ending.has(name)).map(({ name }) => name);
}

/** `back` leads to a question. */
function isWayOut(to: string): boolean {
  return to === 'end' || to === 'back';
}

function targetOf(node: FlowNode): (exit: FlowNode['exits'][number]) => string {
  return ({ to }) => (to === 'repeat' ? node.name : to);
}
