/** A flow as a graph: its steps, and where each leads. For checks, drawings and the console. Pure. */
import type { FlowCondition } from './conditions.ts';
import type { FlowFile } from './flow-file.ts';
import { type FlowVerb, VERB_SCHEMAS, type VerbFields } from './verbs.ts';

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
  | 'timedOut';

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
  /** As the writer explains it; null = not at all. */
  readonly about: string | null;
  /** The flow that it calls; null = none. */
  readonly calls: string | null;
  readonly exits: readonly FlowExit[];
}

/** A flow as a graph. */
export interface FlowGraph {
  readonly start: string;
  /** Keys that always work, and where they lead. */
  readonly keys: Readonly<Record<string, string>>;
  /** In the order of the file. */
  readonly nodes: readonly FlowNode[];
}

type FlowStep = FlowFile['steps'][string];
type Path = readonly (string | number)[];

const VERBS = Object.keys(VERB_SCHEMAS) as FlowVerb[];

/** The graph of a flow. A step without a verb, which no checked flow has, is left out. */
export function graphOf({ start, keys = {}, steps }: FlowFile): FlowGraph {
  const nodes = Object.entries(steps).flatMap(([name, step]): FlowNode[] => {
    const verb = verbOf(step);
    if (verb === null) return [];
    return [{ name, verb, about: step.about ?? null, calls: step.flow?.name ?? null, exits: exitsOf(step) }];
  });
  return { start, keys, nodes };
}

/** What a step does; null = it has no verb. */
export function verbOf(step: FlowStep): FlowVerb | null {
  return VERBS.find((verb) => step[verb] !== undefined) ?? null;
}

/** Every way out of a step, in the order of the file. */
export function exitsOf(step: FlowStep): FlowExit[] {
  const verb = verbOf(step);
  if (verb === null) return [];
  const own = OWN_EXITS[verb]?.(step) ?? [];
  return goesOn(verb, step) ? [...own, next(step)] : own;
}

/** Whether what stands under `next` may come after the step, or its flow's end. */
function goesOn(verb: FlowVerb, step: FlowStep): boolean {
  switch (verb) {
    case 'menu':
      return Object.values(step.menu?.choices ?? {}).some((choice) => choice.next === undefined);
    case 'branch':
      return step.branch?.else === undefined;
    case 'confirm':
    case 'hours':
    case 'hangup':
      return false;
    default:
      return true;
  }
}

function next(step: FlowStep): FlowExit {
  const path = step.next === undefined ? null : ['next'];
  return { reason: 'next', to: step.next ?? 'end', detail: null, path };
}

function exit(reason: ExitReason, to: string | undefined, path: Path, detail: string | null = null): FlowExit[] {
  return to === undefined ? [] : [{ reason, to, detail, path }];
}

/** The ways out that a verb has beside `next`. */
const OWN_EXITS: Partial<Record<FlowVerb, (step: FlowStep) => FlowExit[]>> = {
  menu: ({ menu }) => [...choicesOf(menu), ...fallbacksOf('menu', menu)],
  gather: ({ gather }) => fallbacksOf('gather', gather),
  confirm: ({ confirm }) => [
    ...exit('yes', confirm?.yes, ['confirm', 'yes']),
    ...exit('no', confirm?.no, ['confirm', 'no']),
    ...fallbacksOf('confirm', confirm),
  ],
  branch: ({ branch }) => [
    ...(branch?.when ?? []).flatMap(({ if: condition, next: to }, index) =>
      exit('when', to, ['branch', 'when', index, 'next'], describeConditions(condition)),
    ),
    ...exit('else', branch?.else, ['branch', 'else']),
  ],
  hours: ({ hours }) => [
    ...exit('open', hours?.open, ['hours', 'open']),
    ...exit('closed', hours?.closed, ['hours', 'closed']),
    ...exit('holiday', hours?.holiday, ['hours', 'holiday']),
  ],
  http: ({ http }) => exit('failed', http?.failed, ['http', 'failed']),
  record: ({ record }) => exit('empty', record?.empty, ['record', 'empty']),
  transfer: ({ transfer }) => exit('failed', transfer?.failed, ['transfer', 'failed']),
  app: ({ app }) => exit('failed', app?.failed, ['app', 'failed']),
  queueMusic: ({ queueMusic }) => exit('timedOut', queueMusic?.timedOut, ['queueMusic', 'timedOut']),
};

function choicesOf(menu: VerbFields['menu'] | undefined): FlowExit[] {
  return Object.entries(menu?.choices ?? {}).flatMap(([name, { key, next: to }]) =>
    exit('choice', to, ['menu', 'choices', name, 'next'], key === undefined ? name : `${key} ${name}`),
  );
}

function fallbacksOf(
  verb: 'menu' | 'gather' | 'confirm',
  question: VerbFields['confirm' | 'menu' | 'gather'] | undefined,
) {
  return [
    ...exit('noInput', question?.noInput?.next, [verb, 'noInput', 'next']),
    ...exit('noMatch', question?.noMatch?.next, [verb, 'noMatch', 'next']),
  ];
}

/** Comparisons in the order in which people read them. */
const COMPARISONS: Readonly<Partial<Record<keyof FlowCondition, string>>> = {
  is: 'is',
  isNot: 'is not',
  oneOf: 'is one of',
  contains: 'contains',
  startsWith: 'starts with',
  above: 'above',
  atLeast: 'at least',
  below: 'below',
  atMost: 'at most',
};

function describeConditions(conditions: FlowCondition | readonly FlowCondition[]): string {
  return [conditions].flat().map(describeCondition).join(', ');
}

function describeCondition(condition: FlowCondition): string {
  const parts = Object.entries(COMPARISONS).flatMap(([name, words]) => {
    const value = condition[name as keyof FlowCondition];
    return value === undefined ? [] : [`${words} ${[value].flat().map(String).join(', ')}`];
  });
  if (condition.isSet !== undefined) parts.push(condition.isSet ? 'is set' : 'is not set');
  return `${condition.variable} ${parts.join(' and ')}`;
}
