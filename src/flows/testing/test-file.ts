/** What stands in a `*.test.yaml`: callers who talk with a flow, and what is expected of it. */
import { z } from 'zod';
import { ANSWERERS } from '../../calls/answered/answered-by.ts';
import { valueSchema, variableSchema } from '../file/conditions.ts';
import { nameSchema } from '../file/prompts.ts';

/** Most tests of one file. */
const TESTS_MAX = 500;
/** Most lines of one script. */
const SCRIPT_MAX = 200;
const WAIT_MAX_MS = 120_000;

/** Who calls whom, where a test does not say. */
export const CALLER_NUMBER = '+15550100';
export const CALLED_NUMBER = '+15550199';

/** YAML reads `said: 4` as a number. */
const textSchema = z.union([z.string().min(1).max(500), z.number().transform(String)]);
const waitSchema = z.number().int().min(0).max(WAIT_MAX_MS);
const valuesSchema = z.record(variableSchema, valueSchema);

/** YAML reads `0123` as the number 123, so only single keys may stand without quotes. */
const keysSchema = z.union([
  z.number().int().min(0, 'expected keys such as "12#"').max(9, 'put several keys between quotes, such as "12#"'),
  z.string().regex(/^[0-9*#]{1,100}$/, 'expected keys: 0 to 9, * and #'),
]);

/** What must have happened, or must happen within a time. */
const expectationSchema = z
  .strictObject({
    step: nameSchema
      .optional()
      .describe('The flow is at this step, or came through it since the last line of the caller'),
    said: z
      .union([textSchema, z.array(textSchema).min(1).max(20)])
      .optional()
      .describe(
        'The caller heard this since the last line of the caller: what was cut off does not count, nor do case and ' +
          'punctuation',
      ),
    notSaid: textSchema.optional().describe('The caller has not heard this since the last line of the caller'),
    variables: valuesSchema.optional().describe('What the variables are now'),
    ended: z.boolean().optional().describe('The flow is over'),
    answerWithinMs: waitSchema.optional().describe('From the end of what the caller did to the first sound after it'),
    withinMs: waitSchema.optional().describe('How long all of it is waited for: 30000'),
  })
  .refine(
    (expected) => Object.keys(expected).some((name) => name !== 'withinMs'),
    'expected something to wait for, such as step or said',
  );

const cutInSchema = z
  .strictObject({
    say: textSchema.optional(),
    press: keysSchema.optional(),
    afterMs: waitSchema.optional().describe('How long the caller listens first: 500'),
  })
  .refine(({ say, press }) => (say === undefined) !== (press === undefined), 'expected say or press');

const ACTIONS = ['say', 'press', 'silent', 'cutIn', 'beep', 'fax', 'hangup', 'expect'] as const;

const fullLine = z
  .strictObject({
    say: textSchema.optional().describe('The caller says this when the flow listens'),
    press: keysSchema.optional().describe('The caller presses these keys when the flow listens'),
    silent: waitSchema.optional().describe('The caller says nothing for so many ms from when the flow listens'),
    cutIn: cutInSchema.optional().describe('The caller says or presses something while the flow speaks'),
    beep: z.literal(true).optional().describe('The answering machine beeps'),
    fax: z.literal(true).optional().describe('The tone of a fax machine is heard'),
    hangup: z.literal(true).optional().describe('The caller hangs up'),
    expect: expectationSchema.optional(),
  })
  .refine(
    (line) => ACTIONS.filter((action) => line[action] !== undefined).length === 1,
    `expected one of ${ACTIONS.join(', ')}`,
  );
const lineSchema = z.union([
  z.literal('hangup').transform((): z.infer<typeof fullLine> => ({ hangup: true })),
  fullLine,
]);

const stepsSchema = z.union([nameSchema.transform((step) => [step]), z.array(nameSchema).max(200)]);

const answerSchema = z
  .strictObject({
    url: z.string().min(1).max(2000).describe('* stands for anything'),
    method: z.enum(['GET', 'POST']).optional(),
    json: z.json().optional(),
    text: z.string().optional(),
    status: z.number().int().min(100).max(599).optional().describe('200'),
    delayMs: waitSchema.optional(),
    fails: z.literal(true).optional().describe('There is no answer at all'),
  })
  .refine(({ json, text }) => json === undefined || text === undefined, 'expected json or text, not both');

const circumstances = {
  at: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?$/, 'expected a time such as 2026-11-23T10:00')
    .transform((time) => time.replace(' ', 'T'))
    .optional()
    .describe('What time it is in the call: in the time zone of the flow, or of its first `hours`, or with an offset'),
  from: z.string().min(1).max(256).optional().describe('The number of the caller: +15550100'),
  to: z.string().min(1).max(256).optional().describe('The number that is called: +15550199'),
  answered: z
    .enum(ANSWERERS)
    .optional()
    .describe('The flow makes the call, and this is who answers; the flow is called unless given'),
  parameters: z.record(z.string().min(1), z.string()).optional().describe('Parameters of the call'),
  variables: valuesSchema.optional().describe('What variables of the flow are at its beginning'),
  http: z.array(answerSchema).max(50).optional().describe('Answers to the requests of the flow; the first that fits'),
  transfer: z.enum(['answered', 'failed']).optional().describe('What becomes of transfers: answered'),
  app: valueSchema.optional().describe('What an `app` step hands back'),
};

const testSchema = z.strictObject({
  name: z.string().min(1).max(200),
  ...circumstances,
  script: z.array(lineSchema).min(1).max(SCRIPT_MAX),
  outcome: z.enum(['done', 'transferred', 'hangup', 'failed']).optional().describe('How the flow must have ended'),
  steps: stepsSchema.optional().describe('Steps that it must have come through, in this order'),
  notSteps: stepsSchema.optional().describe('Steps that it must not have come to'),
});

/** A file of tests, as it is written. */
export const testFileSchema = z.strictObject({
  version: z.literal(1),
  flow: nameSchema.optional().describe('Which flow is called: that with the name of this file unless given'),
  voice: z.string().optional().describe('The voice of the caller; another than that of the flow unless given'),
  ...circumstances,
  tests: z.array(testSchema).min(1).max(TESTS_MAX),
});

/** A file of tests, read. */
export type FlowTestFile = z.infer<typeof testFileSchema>;
/** One call of a scripted caller. */
export type FlowTest = FlowTestFile['tests'][number];
/** One line of a script. */
export type ScriptLine = FlowTest['script'][number];
/** What is waited for. */
export type Expectation = NonNullable<ScriptLine['expect']>;
/** An answer that stands in for the network's. */
export type HttpStandIn = NonNullable<FlowTest['http']>[number];

/** The parameters of a test's call. */
export function parametersOf({ parameters, answered }: Pick<FlowTest, 'parameters' | 'answered'>) {
  return { ...parameters, ...(answered === undefined ? {} : { answeredBy: answered }) };
}
