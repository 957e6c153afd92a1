/** Flows and their figures, as the API shows them. */
import { z } from 'zod';
import { nameSchemas } from '../../http/server/named-schemas.ts';

const count = z.int().min(0);
const time = z.iso.datetime();

const problem = z.object({
  line: z.int().describe('From 1'),
  column: z.int().describe('From 1'),
  message: z.string(),
});

/** A flow of a list. */
export const listedFlow = z.object({
  name: z.string().describe('That of its file, without .yaml'),
  file: z.string().describe('Inside of FLOWS_DIR'),
  about: z.string().describe('As its writer explains it; may be empty'),
  state: z
    .enum(['used', 'kept', 'refused'])
    .describe(
      '`used`: new calls use it as it is; `kept`: its file is wrong, and new calls use the version before; ' +
        '`refused`: its file is wrong, and no call can use it',
    ),
  version: z.string().nullable().describe('What new calls use: 8 hexadecimal digits; null = nothing'),
  since: time.nullable().describe('Since when new calls use this version'),
  refusedSince: time.nullable().describe('Since when the file as it is now is not used'),
  errors: z.array(problem).describe('What is wrong with the file'),
  warnings: z.array(problem).describe('What may be wrong, and keeps nobody from using it'),
  calls: z
    .object({
      count,
      isMore: z.boolean().describe('There were that many calls or more'),
      last: time.nullable().describe('When the last one began, whenever that was'),
    })
    .nullable()
    .describe('Calls of the period that began with it; null = nothing is kept of calls'),
});

const exit = z.object({
  reason: z
    .enum([
      ...(['next', 'choice', 'yes', 'no', 'when', 'else', 'open', 'closed', 'holiday'] as const),
      ...(['noInput', 'noMatch', 'failed', 'empty', 'timedOut', 'busy', 'noAnswer'] as const),
    ])
    .describe('The field of the step that leads there'),
  to: z.string().describe('A step of the same flow, or `end`, `back`, `repeat`'),
  detail: z.string().nullable().describe('The choice with its key, or the condition'),
});

const step = z.object({
  name: z.string(),
  verb: z.string(),
  says: z.string().nullable().describe('What it says first, as it is written; of a recording `♪` and its name'),
  calls: z.string().nullable().describe('The flow that it calls'),
  exits: z.array(exit),
});

const drawnFlow = z.object({
  name: z.string(),
  start: z.string().describe('The step that it begins with'),
  keys: z.record(z.string(), z.string()).describe('Keys that always work, and where they lead'),
  steps: z.array(step).describe('In the order of the file'),
});

/** One flow with its steps. */
export const flowDetail = listedFlow.omit({ calls: true }).extend({
  flows: z.array(drawnFlow).describe('The version that new calls use, with the flows that it calls; empty = none'),
});

const counted = z.object({
  flow: z.string(),
  step: z.string(),
  verb: z.string(),
  calls: count.describe('Calls that reached it'),
  visits: count.describe('How often it was reached in all'),
  underWay: count.describe('Visits that go on now'),
  exits: z
    .array(
      z.object({
        kind: z
          .enum(['step', 'done', 'transferred', 'hangup', 'failed', 'lost'])
          .describe('`step`: another step followed. The others say how the flow ended; `lost`: nobody knows how'),
        flow: z.string().nullable().describe('That of the step which followed'),
        step: z.string().nullable(),
        reason: z
          .enum(['match', 'noMatch', 'noInput', 'failed', 'key', 'fax'])
          .nullable()
          .describe(
            'An answer; one that fits nothing; none; the step could not be done; a key that always works. ' +
              'Null = the step itself',
          ),
        detail: z.string().nullable().describe('Which answer of a menu, or true and false of a `confirm`'),
        count,
      }),
    )
    .describe('Where visits led, the most frequent first'),
  matches: count.describe('Answers that were understood'),
  noMatches: count.describe('Answers that fit nothing'),
  noInputs: count.describe('Questions without an answer'),
  time: z.object({ p50Ms: z.number(), p95Ms: z.number() }).nullable().describe('Time in the step, by the sound'),
  hangups: count.describe('Calls whose caller left in it'),
  unmatched: z
    .array(z.object({ text: z.string(), kind: z.enum(['keys', 'speech']), count }))
    .describe('What fit nothing, the most frequent first, at most 50; redacted as the records are'),
});

/** How calls went through a flow. */
export const flowStatistics = z.object({
  flow: z.string(),
  from: time,
  to: time,
  version: z.string().nullable().describe('The only one that was counted; null = all'),
  calls: count,
  isComplete: z.boolean().describe('False: not all days are counted yet, and the next request goes on'),
  outcomes: z
    .object({
      done: count,
      transferred: count,
      hangup: count,
      failed: count,
      lost: count.describe('The call ended, and nobody knows how the flow did'),
      underWay: count,
    })
    .describe('How the flow ended in them'),
  versions: z
    .array(z.object({ version: z.string(), calls: count, first: time, last: time }))
    .describe('All versions of the period, the latest first, with when the first and the last of their calls began'),
  steps: z.array(counted).describe('Those that were reached, also of flows that it calls; the most frequent first'),
});

nameSchemas({
  FlowProblem: problem,
  Flow: listedFlow,
  DrawnFlow: drawnFlow,
  FlowStep: step,
  FlowExit: exit,
  FlowStatistics: flowStatistics,
  FlowWithSteps: flowDetail,
});
