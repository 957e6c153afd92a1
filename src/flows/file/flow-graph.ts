/** A flow as a graph: its steps, and where each leads. For checks, drawings and the console. Pure. */
import { type FlowVerb, verbOf } from '../verbs/table.ts';
import type { FlowExit } from '../verbs/verb.ts';
import type { Flow, FlowStep } from './flow.ts';
import type { FlowPrompt } from './prompts.ts';

/** One step of a flow. */
export interface FlowNode {
  readonly name: string;
  readonly verb: FlowVerb;
  /** What it says first, as it is written; null = nothing. */
  readonly says: string | null;
  /** The flow that it calls; null = none. */
  readonly calls: string | null;
  readonly exits: readonly FlowExit[];
}

/** The steps of a flow, in the order of its file. */
export function nodesOf({ steps }: Pick<Flow, 'steps'>): FlowNode[] {
  return [...steps.values()].map((step) => {
    const calls = step.verb === 'flow' ? step.fields.name : null;
    return { name: step.name, verb: step.verb, says: wordsOf(step), calls, exits: exitsOf(step) };
  });
}

/** Every way out of a step, in the order of the file. */
export function exitsOf(step: FlowStep): FlowExit[] {
  const { exits, goesOn } = verbOf(step.verb);
  const own = (exits?.(step.fields) ?? []).map((exit) => ({ ...exit, path: exit.path && [step.verb, ...exit.path] }));
  if (goesOn?.(step.fields) === false) return own;
  const path = step.next === null ? null : ['next'];
  return [...own, { reason: 'next', to: step.next ?? 'end', detail: null, path }];
}

/** What a step says first: its text, or the name of its recording. */
function wordsOf(step: FlowStep): string | null {
  const { says, prompts } = verbOf(step.verb);
  if (says !== undefined) return says(step.fields);
  const [first] = prompts?.(step.fields) ?? [];
  return promptWords(first?.[1]);
}

/** Null = there is no prompt. */
function promptWords(prompt: Pick<FlowPrompt, 'text' | 'recording'> | undefined): string | null {
  if (prompt?.text !== undefined) return prompt.text;
  return prompt?.recording === undefined ? null : `♪ ${prompt.recording}`;
}
