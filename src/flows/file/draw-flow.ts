/** A flow as a drawing: a flowchart of Mermaid. */

import { verbOf } from '../verbs/table.ts';
import type { ExitReason, FlowExit } from '../verbs/verb.ts';
import type { Flow } from './flow.ts';
import { type FlowNode, nodesOf } from './flow-graph.ts';

const WORDS_MAX_CHARS = 60;

/** What stands at an arrow whose reason says it all. */
const REASONS: Readonly<Partial<Record<ExitReason, string>>> = {
  noInput: 'no answer',
  noMatch: 'not understood',
  timedOut: 'waited too long',
  empty: 'no message',
  noAnswer: 'nobody answers',
};

/** What is no step; `end` alone would mean something to Mermaid. */
const OTHER_NODES = {
  over: '(("end"))',
  before: '(["back to the question before"])',
  anywhere: '(["wherever the caller is"])',
  failed: '(["a step cannot be done"])',
} as const;

/** The lines of a Mermaid flowchart; keys, choices and conditions stand at the arrows. */
export function drawFlow(flow: Flow): string[] {
  const nodes = nodesOf(flow);
  // Names of steps may mean something to Mermaid.
  const ids = new Map(nodes.map(({ name }, index) => [name, `s${index}`]));
  const arrows = nodes.flatMap(({ name, exits }) => exits.map((exit) => arrowOf(name, exit, ids)));
  for (const [key, to] of flow.keys) arrows.push(`  anywhere -. ${quoted(key)} .-> ${targetOf(to, 'anywhere', ids)}`);
  if (flow.failed !== null) arrows.push(`  failed -.-> ${targetOf(flow.failed, 'failed', ids)}`);
  if (flow.fax !== null) arrows.push(`  anywhere -. "fax machine" .-> ${targetOf(flow.fax, 'anywhere', ids)}`);
  const others = Object.entries(OTHER_NODES).filter(([id]) =>
    arrows.some((arrow) => arrow.startsWith(`  ${id} `) || arrow.endsWith(` ${id}`)),
  );
  return [
    'flowchart TD',
    `  call(("call")) --> ${ids.get(flow.start) ?? 'over'}`,
    ...nodes.map((node) => `  ${ids.get(node.name)}${shapeOf(node)}`),
    ...others.map(([id, shape]) => `  ${id}${shape}`),
    ...arrows,
  ];
}

type Ids = ReadonlyMap<string, string>;

function arrowOf(name: string, { reason, to, detail }: FlowExit, ids: Ids): string {
  const label = reason === 'next' ? null : (detail ?? REASONS[reason] ?? reason);
  const arrow = label === null ? '-->' : `-->|${quoted(label)}|`;
  return `  ${ids.get(name)} ${arrow} ${targetOf(to, ids.get(name) ?? '', ids)}`;
}

function targetOf(to: string, from: string, ids: Ids): string {
  if (to === 'end') return 'over';
  if (to === 'back') return 'before';
  return to === 'repeat' ? from : (ids.get(to) ?? 'over');
}

function shapeOf({ name, verb, says, calls }: FlowNode): string {
  const [open, close] = verbOf(verb).shape ?? ['[', ']'];
  const words = says === null || says.length <= WORDS_MAX_CHARS ? says : `${says.slice(0, WORDS_MAX_CHARS)}…`;
  const lines = [`${verb}: ${name}`, calls, words].filter((line) => line !== null);
  return `${open}${quoted(lines.join('\n'))}${close}`;
}

/** A text of Mermaid in which nothing has a meaning of its own. */
function quoted(text: string): string {
  const plain = text.replace(/[^\p{L}\p{N}\s.,:;!?'()/*+=…-]/gu, (sign) => `#${sign.codePointAt(0)};`);
  return `"${plain.replace(/(?<!\s)\s*\n\s*/g, '<br/>')}"`;
}
