/** What does the steps of flows: a runner for each verb. */
import type { FlowVerb } from '../file/verbs.ts';
import { runApp } from './app.ts';
import { runBranch } from './branch.ts';
import { runConfirm } from './confirm.ts';
import { runGather } from './gather.ts';
import { runHangup } from './hangup.ts';
import { runHours } from './hours.ts';
import { runHttp } from './http.ts';
import { runLanguage } from './language.ts';
import { runLeaveMessage } from './leave-message.ts';
import { runMenu } from './menu.ts';
import { runPlay } from './play.ts';
import { runQueueMusic } from './queue-music.ts';
import { runRecord } from './record.ts';
import { runSay } from './say.ts';
import { runSet } from './set.ts';
import type { StepRunner } from './step.ts';
import { runTransfer } from './transfer.ts';

/** By verb. Flows that are called are run by the flow itself. */
export type StepRunners = { readonly [Verb in Exclude<FlowVerb, 'flow'>]: StepRunner<Verb> };

/** Those of all calls. */
export const STEP_RUNNERS: StepRunners = {
  say: runSay,
  play: runPlay,
  menu: runMenu,
  gather: runGather,
  confirm: runConfirm,
  branch: runBranch,
  set: runSet,
  hours: runHours,
  language: runLanguage,
  hangup: runHangup,
  http: runHttp,
  transfer: runTransfer,
  app: runApp,
  queueMusic: runQueueMusic,
  record: runRecord,
  leaveMessage: runLeaveMessage,
};
