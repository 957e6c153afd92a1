/** A flow as a graph: its steps, and where each leads. For checks, drawings and the console. Pure. */
import type { FlowCondition } from './conditions.ts';
import type { Flow, FlowStep, StepOf } from './flow.ts';
import type { FlowPrompt } from './prompts.ts';
import type { FlowVerb } from './verbs.ts';

/** Why a flow leaves a step: each is a key of the step's fields. */
export type ExitReason =
  | 'next'
  | 'choice'
  | 'yes'
  | 'no'
  | 'when'
  | 'else'
  | 'open'
  | 'closed'
  | 'holiday'
  | 'noInput'
  | 'noMatch'
  | 'failed'
  | 'empty'
  | 'timedOut'
  | 'busy'
  | 'noAnswer';

/** One way out of a step. */
export interface FlowExit {
  readonly reason: ExitReason;
  /** A step, or `end`, `back`, `repeat`. */
  readonly to: string;
  /** What leads there: the name of a choice with its key, or a condition; null = the reason says it all. */
  readonly detail: string | null;
  /** Where the target stands inside of the step; null = nowhere: a step without `next` ends its flow. */
  readonly path: readonly (string | number)[] | null;
}

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
  const own = ownExitsOf(step).map((exit) => ({ ...exit, path: exit.path && [step.verb, ...exit.path] }));
  if (!goesOn(step)) return own;
  const path = step.next === null ? null : ['next'];
  return [...own, { reason: 'next', to: step.next ?? 'end', detail: null, path }];
}

/** Whether what stands under `next`, or the flow's end, may come after the step. */
function goesOn(step: FlowStep): boolean {
  switch (step.verb) {
    case 'menu':
      return Object.values(step.fields.choices).some(({ next }) => next === undefined);
    case 'branch':
      return step.fields.else === undefined;
    case 'confirm':
    case 'hours':
    case 'hangup':
      return false;
    default:
      return true;
  }
}

/** The ways out that a verb has beside `next`; paths are those inside of its fields. */
function ownExitsOf(step: FlowStep): FlowExit[] {
  switch (step.verb) {
    case 'menu':
      return [...choicesOf(step), ...fallbacksOf(step)];
    case 'gather':
      return fallbacksOf(step);
    case 'confirm':
      return [...exit('yes', step.fields.yes), ...exit('no', step.fields.no), ...fallbacksOf(step)];
    case 'branch':
      return [...conditionsOf(step), ...exit('else', step.fields.else)];
    case 'hours': {
      const { open, closed, holiday } = step.fields;
      return [...exit('open', open), ...exit('closed', closed), ...exit('holiday', holiday)];
    }
    case 'transfer': {
      const { busy, noAnswer, failed } = step.fields;
      return [...exit('busy', busy), ...exit('noAnswer', noAnswer), ...exit('failed', failed)];
    }
    case 'http':
    case 'leaveMessage':
    case 'app':
      return exit('failed', step.fields.failed);
    case 'record':
      return exit('empty', step.fields.empty);
    case 'queueMusic':
      return exit('timedOut', step.fields.timedOut);
    default:
      return [];
  }
}

function exit(
  reason: ExitReason,
  to: string | undefined,
  path: readonly (string | number)[] = [reason],
  detail: string | null = null,
): FlowExit[] {
  return to === undefined ? [] : [{ reason, to, detail, path }];
}

function choicesOf({ fields }: StepOf<'menu'>): FlowExit[] {
  return Object.entries(fields.choices).flatMap(([name, { key, next }]) =>
    exit('choice', next, ['choices', name, 'next'], key === undefined ? name : `${key} ${name}`),
  );
}

function conditionsOf({ fields }: StepOf<'branch'>): FlowExit[] {
  return fields.when.flatMap(({ if: conditions, next }, index) =>
    exit('when', next, ['when', index, 'next'], [conditions].flat().map(describeCondition).join(', ')),
  );
}

function fallbacksOf({ fields: { noInput, noMatch } }: StepOf<'menu' | 'gather' | 'confirm'>): FlowExit[] {
  return [
    ...exit('noInput', noInput?.next, ['noInput', 'next']),
    ...exit('noMatch', noMatch?.next, ['noMatch', 'next']),
  ];
}

/** Comparisons in the order in which people read them. */
const COMPARISONS = [
  ['is', 'is'],
  ['isNot', 'is not'],
  ['oneOf', 'is one of'],
  ['contains', 'contains'],
  ['startsWith', 'starts with'],
  ['above', 'above'],
  ['atLeast', 'at least'],
  ['below', 'below'],
  ['atMost', 'at most'],
] as const satisfies readonly (readonly [keyof FlowCondition, string])[];

function describeCondition(condition: FlowCondition): string {
  const parts = COMPARISONS.flatMap(([name, words]) => {
    const value = condition[name];
    return value === undefined ? [] : [`${words} ${[value].flat().map(String).join(', ')}`];
  });
  if (condition.isSet !== undefined) parts.push(condition.isSet ? 'is set' : 'is not set');
  return `${condition.variable} ${parts.join(' and ')}`;
}

/** What a step says first: its text, or the name of its recording. */
function wordsOf(step: FlowStep): string | null {
  switch (step.verb) {
    case 'say':
      return promptWords(step.fields);
    case 'play':
    case 'queueMusic':
      return `♪ ${step.fields.recording}`;
    case 'menu':
    case 'gather':
    case 'confirm':
    case 'record':
    case 'leaveMessage':
    case 'transfer':
    case 'hangup':
      return promptWords(step.fields.prompt);
    case 'http':
      return promptWords(step.fields.waiting);
    case 'app':
      return step.fields.greeting ?? null;
    default:
      return null;
  }
}

/** Null = there is no prompt. */
function promptWords(prompt: Pick<FlowPrompt, 'text' | 'recording'> | undefined): string | null {
  if (prompt?.text !== undefined) return prompt.text;
  return prompt?.recording === undefined ? null : `♪ ${prompt.recording}`;
}
