/** All verbs. A text in a value may hold variables: `Hello {name}`. */
import type { z } from 'zod';
import { app } from './app.ts';
import { branch } from './branch.ts';
import { confirm } from './confirm.ts';
import { flow } from './flow.ts';
import { gather } from './gather.ts';
import { hangup } from './hangup.ts';
import { hours } from './hours.ts';
import { http } from './http.ts';
import { language } from './language.ts';
import { leaveMessage } from './leave-message.ts';
import { menu } from './menu.ts';
import { play } from './play.ts';
import { queueMusic } from './queue-music.ts';
import { record } from './record.ts';
import { say } from './say.ts';
import { set } from './set.ts';
import type { StepExit, StepTools } from './step.ts';
import { transfer } from './transfer.ts';
import type { Verb } from './verb.ts';

/** A new verb is a file of this folder and a line here. */
const VERBS = {
  say,
  play,
  menu,
  gather,
  confirm,
  branch,
  set,
  hours,
  http,
  record,
  leaveMessage,
  transfer,
  app,
  queueMusic,
  language,
  hangup,
  flow,
} as const;

/** What a step does. */
export type FlowVerb = keyof typeof VERBS;

/** The names of all verbs. */
export const FLOW_VERBS = Object.keys(VERBS) as FlowVerb[];

/** What stands behind each verb, read. */
export type VerbFields = { readonly [Name in FlowVerb]: z.infer<(typeof VERBS)[Name]['schema']> };

type VerbSchemas = { readonly [Name in FlowVerb]: (typeof VERBS)[Name]['schema'] };

/** The schema of each verb. */
export const VERB_SCHEMAS = Object.fromEntries(FLOW_VERBS.map((name) => [name, VERBS[name].schema])) as VerbSchemas;

/** The verb `name`, whatever its fields are. */
export function verbOf(name: FlowVerb): Verb {
  // The fields of a step are those of its verb: its schema has read them.
  return VERBS[name] as unknown as Verb;
}

/** Does one step. Rejects with a StepFailure when it cannot be done. */
export type StepRunner<Name extends FlowVerb> = (fields: VerbFields[Name], tools: StepTools) => Promise<StepExit>;

/** By verb. Flows that are called are run by the flow itself. */
export type StepRunners = { readonly [Name in Exclude<FlowVerb, 'flow'>]: StepRunner<Name> };

/** Those of all calls. */
export const STEP_RUNNERS = Object.fromEntries(
  FLOW_VERBS.flatMap((name) => {
    const { run } = verbOf(name);
    return run === undefined ? [] : [[name, run]];
  }),
) as unknown as StepRunners;
